// The sub-commands of `headway`, one file each, and the table of them.
#pragma once

#include <vector>

#include "command/command_line.h"

namespace hw::cli {

// All commands, in the order of the help.
const std::vector<Command>& commands();

// Gateway, store and an embedded instance, without a configuration.
Command up_command();
// The gateway from a file.
Command serve_command();
// One instance.
Command engine_command();
// An access, judged.
Command verify_command();
// One call.
Command trace_command();
// The call log.
Command logs_command();
// A new key.
Command key_create_command();
// All keys.
Command key_list_command();
// Lets a key in again.
Command key_enable_command();
// Refuses a key for now.
Command key_disable_command();
// Removes a key.
Command key_delete_command();
// Channels and their health.
Command channel_list_command();
// Files and lines of clients.
Command config_command();
// Memory of keys and values, and what fits.
Command kv_command();
// The cost model, fitted to measurements.
Command plan_run_command();
Command plan_calibrate_command();
// An endpoint, measured.
Command sample_command();
// Runs against runs.
Command compare_command();
// Keeps runs as a baseline.
Command baseline_save_command();
// Names of baselines.
Command baseline_list_command();
// One baseline's runs.
Command baseline_show_command();
// Adds runs to a baseline.
Command baseline_accept_command();
// Scripts for shells.
Command completion_command();
// Which version this is.
Command version_command();

// The flag that all commands have that print data.
const Flag& json_flag();
// `flags` and those of client_flags().
std::vector<Flag> with_client_flags(std::vector<Flag> flags);

}  // namespace hw::cli
