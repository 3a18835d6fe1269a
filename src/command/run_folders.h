// Run folders and baselines as the command line names them.
#pragma once

#include <string>
#include <vector>

#include "command/command_line.h"
#include "comparison/archive.h"

namespace hw::cli {

// --data, for commands that keep or read baselines.
const Flag& archive_flag();

// The archive of --data DIR (HEADWAY_DATA), else of $XDG_DATA_HOME/headway or
// ~/.local/share/headway; its folder is `baselines` in that.
comparison::Archive archive_of(const Arguments& arguments);

// The lines of a list flag's value; a name of a baseline that is no folder stands for its runs.
std::vector<std::string> run_folders(const Arguments& arguments, std::string_view flag);

}  // namespace hw::cli
