#include "command/obstacle.h"

#include "app/gateway_system.h"
#include "base/text.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;

bool may_start(const app::GatewayFile& config, const std::string& running, const StartFlags& flags,
               config::Language language) {
  using Kind = app::GatewaySystem::Obstacle::Kind;
  const app::GatewaySystem::Obstacle found = app::GatewaySystem::find_obstacle(config);
  const std::string process = found.process > 0 ? std::to_string(found.process) : "?";
  switch (found.kind) {
    case Kind::kNone:
      return true;
    case Kind::kStoreTaken:
      if (running.empty()) {
        complain(say(language, Text::kStoreTaken,
                     {config.store.path, process, std::string(flags.store)}));
      } else {
        complain(say(language, Text::kAlreadyRunning, {config.store.path, running, process}));
      }
      return false;
    case Kind::kPortTaken:
      complain(say(language, Text::kPortTaken,
                   {concat(config.gateway.listen_host, ":", config.gateway.listen_port),
                    std::string(flags.port)}));
      return false;
  }
  return true;
}

}  // namespace hw::cli
