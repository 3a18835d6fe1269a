// Shell completion, out of the table of commands.
#pragma once

#include <string>
#include <vector>

#include "command/command_line.h"

namespace hw::cli {

// Shells that can be completed for.
enum class Shell : unsigned char { kBash, kZsh, kFish };

// A script for the shell to source.
std::string completion_script(Shell shell, const std::vector<Command>& commands,
                              config::Language language);

}  // namespace hw::cli
