// Archive: baselines, each a name with the runs that were accepted under it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hw::comparison {

// What a name may hold: 1 to 64 letters, digits, dot, dash and underscore, not beginning with a
// dot. It becomes a folder's name.
bool is_baseline_name(std::string_view name);

// A folder with one folder for each baseline; in it, one for each run, named by the first 16 hex
// digits of its content's hash, so that the same run is kept once. One process at a time changes
// it.
class Archive {
 public:
  explicit Archive(std::string folder) : folder_(std::move(folder)) {}

  // Names, sorted. An archive that does not exist has none.
  std::vector<std::string> names() const;
  // Whether there is one of that name.
  bool has(std::string_view name) const;
  // Folders of its runs, oldest first; empty where there is none of that name.
  std::vector<std::string> runs(std::string_view name) const;

  // Copies run folders into the baseline `name`, which is made where it is missing. All runs are
  // checked before the first is copied: kConfig for a bad name, a run that cannot be read, was
  // edited, or was limited by its client; kStore where the disk refuses. Gives how many were new.
  Result<size_t> accept(std::string_view name, const std::vector<std::string>& runs);

 private:
  std::string path_of(std::string_view name) const;

  std::string folder_;
};

}  // namespace hw::comparison
