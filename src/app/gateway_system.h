// GatewaySystem: a running gateway with its store, its keys and its admin API, made of one
// configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/gateway_file.h"
#include "base/result.h"

namespace hw::app {

//   auto system = GatewaySystem::open(std::move(config));   // sockets are open, nothing is served
//   ... another thread: (*system)->reload(fresh), (*system)->stop() ...
//   (*system)->run();                                       // blocks until stop() is through
class GatewaySystem {
 public:
  // What keeps a configuration from being run.
  struct Obstacle {
    enum class Kind : uint8_t { kNone, kStoreTaken, kPortTaken };
    Kind kind = Kind::kNone;
    int process = 0;  // that has the store; -1: not known
  };
  // Whether another process has store or port already. Makes nothing.
  static Obstacle find_obstacle(const GatewayFile& config);

  // Opens store and sockets. Errors: kConfig, kStore.
  static Result<std::unique_ptr<GatewaySystem>> open(GatewayFile config);
  ~GatewaySystem();
  GatewaySystem(const GatewaySystem&) = delete;
  GatewaySystem& operator=(const GatewaySystem&) = delete;

  // Serves until stop() is through; then the store has all calls. Blocks.
  void run();
  // Exchanges that begin from now on follow `fresh`. Gives the options that differ and take a
  // restart; they stay as they were. From any thread. Errors: kStore where the keys cannot be read,
  // kConfig where the certificate cannot; then nothing has changed.
  Result<std::vector<std::string>> reload(const GatewayFile& fresh);
  // Drains and ends run(); a second call ends at once. From any thread.
  void stop();

  // The port that is listened on.
  uint16_t port() const;

 private:
  struct Impl;
  explicit GatewaySystem(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::app
