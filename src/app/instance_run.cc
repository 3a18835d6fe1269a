#include "app/instance_run.h"

#include <unistd.h>

#include <mutex>

#include "app/signals.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "engine/limits.h"
#include "engine_server/server.h"
#include "llama/instance.h"
#include "virtual_gpu/instance.h"

namespace hw::app {
namespace {

constexpr std::string_view kWhere = "instance";

// The server as the signal thread may touch it: only while it is open.
class Running {
 public:
  void set(engine_server::InstanceServer* server) {
    const std::lock_guard lock(mutex_);
    server_ = server;
  }

  void on_signal(Asked asked) {
    const std::lock_guard lock(mutex_);
    if (asked == Asked::kReload) {
      log_info(kWhere, "SIGHUP: an instance takes a restart");
      return;
    }
    // Loading a model cannot be interrupted, and nothing is lost by leaving it.
    if (server_ == nullptr) ::_exit(0);
    log_info(kWhere, stop_asked_ ? "ending at once" : "draining: running requests may finish");
    stop_asked_ = true;
    server_->stop();
  }

 private:
  std::mutex mutex_;
  engine_server::InstanceServer* server_ = nullptr;
  bool stop_asked_ = false;
};

Result<engine::Instance> open_backend(const engine::Options& options) {
  switch (options.model.backend) {
    case engine::BackendKind::kLlama:
      return llama::open_instance(options, engine::read_host_facts());
    case engine::BackendKind::kGpuModel:
      return virtual_gpu::open_instance(options, metrics());
  }
  return fail(ErrorCode::kInternal, "unknown backend");
}

}  // namespace

Status run_instance(const engine::Options& options,
                    const std::function<void(uint16_t port)>& ready) {
  Running running;
  SignalWatch signals([&running](Asked asked) { running.on_signal(asked); });
  Result<engine::Instance> instance = open_backend(options);
  if (!instance.has_value()) return fail(instance.error());
  Result<std::unique_ptr<engine_server::InstanceServer>> server =
      engine_server::InstanceServer::open(options, std::move(*instance), metrics());
  if (!server.has_value()) return fail(server.error());
  running.set(server->get());
  if (ready) ready((*server)->port());
  (*server)->run();
  running.set(nullptr);
  // From here on a signal ends the process at once, which is what whoever sends it wants.
  return {};
}

}  // namespace hw::app
