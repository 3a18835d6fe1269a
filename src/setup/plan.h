// What `headway config` does for each client: the files and what becomes of them, the lines to
// print, the examination. Where to begin reading.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "setup/client.h"
#include "setup/examination.h"

namespace hw::setup {

// A settings file that a set-up writes.
struct SettingsFile {
  std::string path;
  // What becomes of the text that is there; of an empty one the file as it is printed. kConfig
  // where nothing can be merged into it.
  Result<std::string> (*merge)(std::string_view text, const Order& order);
};
// Those of a client, the main one first; empty for those that have none.
std::vector<SettingsFile> settings_files(Client client, const Surroundings& where);

// The main file as it would be made, or the lines for the shell.
std::string printed(Client client, const Order& order, const Surroundings& where);

// Files that examine() wants to see, in the order in which it wants them.
std::vector<std::string> examined_paths(Client client, const Surroundings& where);
// What the client will use and what is wrong with it; `expected` is the gateway asked about.
Examination examine(Client client, const std::vector<settings::FileText>& files,
                    const Surroundings& where, const Access& expected);

}  // namespace hw::setup
