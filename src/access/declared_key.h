// DeclaredKey: a key that the configuration file names, `[[keys]]` in headway.toml.
#pragma once

#include <string>
#include <vector>

namespace hw::access {

// One `[[keys]]` table, with its secret resolved. The secret lives only until the snapshot is
// built from it; it is never printed.
struct DeclaredKey {
  std::string name;                         // unique among declared keys; shown in calls and logs
  std::string secret;                       // what the client presents
  std::vector<std::string> models = {"*"};  // names it may ask for; one * at the end
};

}  // namespace hw::access
