// Runs one inference instance in the foreground until a signal ends it: SIGTERM and SIGINT let
// requests finish, a second one ends at once.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "engine/options.h"

namespace hw::app {

// Loads the model, listens and serves. Blocks until the instance has ended. `ready` is called once
// it answers; may be null. To be called before the process has made other threads. Errors: kConfig
// (library, model, address), the message says what to do.
Status run_instance(const engine::Options& options,
                    const std::function<void(uint16_t port)>& ready);

}  // namespace hw::app
