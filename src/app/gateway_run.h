// Runs a gateway in the foreground until a signal ends it: SIGTERM and SIGINT drain, a second one
// ends at once, SIGHUP reloads.
#pragma once

#include <functional>

#include "app/gateway_file.h"
#include "app/gateway_system.h"
#include "base/result.h"

namespace hw::app {

// What happens along the way. Each may be null.
struct RunHooks {
  // Reads the configuration anew, on SIGHUP.
  std::function<ReadGatewayFile()> read_again;
  // The sockets are open and served from now on; `system` lives until the run ends.
  std::function<void(GatewaySystem& system)> ready;
  // Serving has ended.
  std::function<void()> ended;
};

// Blocks until the gateway has ended. To be called before the process has made other threads, since
// they would get its signals. Errors: those of GatewaySystem::open().
Status run_gateway(GatewayFile config, const RunHooks& hooks);

}  // namespace hw::app
