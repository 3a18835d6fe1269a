// The state file with the triple of the last verify or sampler run.
#pragma once

#include <optional>
#include <string>

#include "config/secret.h"
#include "verify/triple.h"

namespace hw::cli {

// $XDG_STATE_HOME/headway/last_triple.json, else ~/.local/state/...; empty where neither is known.
std::string last_triple_path(const config::Environment& environment);

// Reads it, compares with it, writes it.
class LastTriple {
 public:
  // Reads the file at `path` where there is one; an empty path remembers nothing.
  explicit LastTriple(std::string path);

  // The run before; nothing at the first.
  const std::optional<verify::Triple>& before() const { return before_; }
  // The triple of a run now, with the salt of this file.
  verify::Triple make(const std::string& base_url, const std::string& key,
                      const std::string& model) const;
  // Writes it (mode 0600) and takes it as the run before. A file that cannot be written is no
  // error: the next run then notices nothing.
  void keep(const verify::Triple& triple);

 private:
  std::string path_;
  std::string salt_;
  std::optional<verify::Triple> before_;
};

}  // namespace hw::cli
