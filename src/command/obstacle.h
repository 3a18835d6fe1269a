// What keeps a gateway from being started, in words that say what to do.
#pragma once

#include <string>
#include <string_view>

#include "app/gateway_file.h"
#include "command/command_line.h"

namespace hw::cli {

// How a command takes another port and another database.
struct StartFlags {
  std::string_view port;   // "--port N"
  std::string_view store;  // "--data FOLDER"
};

// True where nothing keeps `config` from being run. Otherwise says on standard error what does: a
// Headway that runs on the same folder, at `running` where that is known, or a port that is taken.
bool may_start(const app::GatewayFile& config, const std::string& running, const StartFlags& flags,
               config::Language language);

}  // namespace hw::cli
