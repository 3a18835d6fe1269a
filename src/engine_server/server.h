// An instance that listens: an engine with its HTTP interface, from open to the end of its drain.
#pragma once

#include <cstdint>
#include <memory>

#include "base/metrics.h"
#include "base/result.h"
#include "engine/instance.h"
#include "engine/options.h"

namespace hw::engine_server {

//   auto instance = llama::open_instance(options, engine::read_host_facts());
//   auto server = InstanceServer::open(options, std::move(*instance), metrics());
//   ... say that it is ready; another thread: (*server)->stop() ...
//   (*server)->run();
class InstanceServer {
 public:
  // Starts the engine and listens; connections are taken from now on and served once run() is
  // called. kConfig where the address cannot be had. The registry outlives it.
  static Result<std::unique_ptr<InstanceServer>> open(const engine::Options& options,
                                                      engine::Instance instance,
                                                      Registry& registry);
  // Only when run() has returned or was never called.
  ~InstanceServer();
  InstanceServer(const InstanceServer&) = delete;
  InstanceServer& operator=(const InstanceServer&) = delete;

  // Where it listens.
  uint16_t port() const;
  // Serves until stop() is through; blocks.
  void run();
  // Takes no more requests, lets those that run finish for at most 30 s, and ends run(). A second
  // call aborts what is left. From any thread.
  void stop();

 private:
  struct Impl;
  explicit InstanceServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::engine_server
