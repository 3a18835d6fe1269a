#include "app/gateway_run.h"

#include <mutex>

#include "app/signals.h"
#include "base/log.h"
#include "base/text.h"

namespace hw::app {
namespace {

constexpr std::string_view kWhere = "app";

// The system as the signal thread may touch it: only while it is open.
class Running {
 public:
  explicit Running(const RunHooks& hooks) : hooks_(hooks) {}

  // False where a signal has ended the run before it began.
  bool set(GatewaySystem* system) {
    const std::lock_guard lock(mutex_);
    system_ = system;
    return !stop_asked_;
  }

  void on_signal(Asked asked) {
    const std::lock_guard lock(mutex_);
    switch (asked) {
      case Asked::kStop:
        log_info(kWhere, stop_asked_ ? "ending at once"
                                     : "draining: new requests get 503, streams may finish");
        stop_asked_ = true;
        if (system_ != nullptr) system_->stop();
        return;
      case Asked::kReload:
        if (system_ != nullptr) reload();
        return;
    }
  }

 private:
  void reload() {
    if (!hooks_.read_again) {
      log_info(kWhere, "SIGHUP: there is no file to read again");
      return;
    }
    const ReadGatewayFile fresh = hooks_.read_again();
    if (!fresh.problems.empty()) {
      for (const config::Problem& problem : fresh.problems) {
        log_error(kWhere, config::describe(problem, config::Language::kEnglish));
      }
      log_error(kWhere, "nothing was reloaded: the file has mistakes");
      return;
    }
    const Result<std::vector<std::string>> waiting = system_->reload(fresh.config);
    if (!waiting.has_value()) {
      log_error(kWhere, concat("nothing was reloaded: ", waiting.error().message));
      return;
    }
    log_info(kWhere, "reloaded");
    for (const std::string& option : *waiting) {
      log_warning(kWhere, concat(option, " has changed and takes a restart"));
    }
  }

  const RunHooks& hooks_;
  std::mutex mutex_;
  GatewaySystem* system_ = nullptr;
  bool stop_asked_ = false;
};

}  // namespace

Status run_gateway(GatewayFile config, const RunHooks& hooks) {
  Running running(hooks);
  SignalWatch signals([&running](Asked asked) { running.on_signal(asked); });
  Result<std::unique_ptr<GatewaySystem>> system = GatewaySystem::open(std::move(config));
  if (!system.has_value()) return fail(system.error());
  const bool wanted = running.set(system->get());
  if (wanted) {
    if (hooks.ready) hooks.ready(**system);
    (*system)->run();
  }
  running.set(nullptr);
  if (hooks.ended) hooks.ended();
  return {};
}

}  // namespace hw::app
