#include "engine/engine.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace hw::engine {

Engine::Engine(const Limits& limits, std::unique_ptr<Backend> backend, const Tokenizer& tokenizer,
               const Clock& clock, const EngineMetrics& metrics)
    : limits_(limits),
      backend_(std::move(backend)),
      clock_(clock),
      metrics_(metrics),
      core_(limits, tokenizer, metrics),
      self_check_(metrics) {
  load_ = core_.load();
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "engine");
}

Engine::~Engine() {
  stop();
}

Result<RequestNumber> Engine::submit(Request request, std::shared_ptr<Sink> sink) {
  if (Status fits = fit_request(request, limits_); !fits) return fail(std::move(fits.error()));
  RequestNumber number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(ErrorCode::kDraining, "this instance is shutting down");
    if (live_ >= limits_.requests_max()) {
      metrics_.refused.add();
      return fail(ErrorCode::kRateLimited,
                  concat("this instance serves at most ", limits_.requests_max(),
                         " requests at once (max_concurrent_requests); try again soon"));
    }
    ++live_;
    number = ++last_number_;
    inbox_.arrivals.push_back({number, std::move(request), std::move(sink), clock_.monotonic()});
  }
  arrived_.notify_one();
  return number;
}

void Engine::abort(RequestNumber number) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    inbox_.aborts.push_back(number);
  }
  arrived_.notify_one();
}

Snapshot Engine::snapshot() const {
  Snapshot snapshot;
  const Nanos step_began = step_began_.load(std::memory_order_relaxed);
  if (step_began != 0) snapshot.step_began = step_began;
  const std::lock_guard lock(mutex_);
  snapshot.load = load_;
  snapshot.load.waiting = live_ - load_.running;
  return snapshot;
}

void Engine::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    inbox_.stop = true;
  }
  backend_->interrupt();
  arrived_.notify_one();
  thread_.join();
}

void Engine::run() {
  for (;;) {
    Inbox inbox = take_inbox();
    const bool stop = inbox.stop;
    accept(std::move(inbox));
    if (stop) {
      core_.abort_all(clock_.monotonic());
      publish();
      return;
    }
    const StepPlan& plan = core_.plan(clock_.monotonic());
    check_self(plan.wake);
    publish();
    if (plan.empty()) {
      wait_until(plan.wake);
      continue;
    }
    step_began_.store(clock_.monotonic(), std::memory_order_relaxed);
    const StepResult result = backend_->execute(plan);
    step_began_.store(0, std::memory_order_relaxed);
    // The step was interrupted: its sequences are aborted, not failed.
    if (result.outcome == StepOutcome::kInterrupted) core_.abort_all(clock_.monotonic());
    core_.complete(result, clock_.monotonic());
    publish();
  }
}

// After planning, which has ended those whose deadline passed in a long step.
void Engine::check_self(std::optional<Nanos> holds_until) {
  const Nanos now = clock_.monotonic();
  if (!self_check_.due(now)) return;
  for (const RequestNumber number :
       self_check_.look(core_.scheduler(), core_.listened(), holds_until, now)) {
    core_.evict(number, now);
  }
}

Engine::Inbox Engine::take_inbox() {
  const std::lock_guard lock(mutex_);
  return std::exchange(inbox_, {});
}

// Until something arrives, the time has come, or the watchdog wants to look.
void Engine::wait_until(std::optional<Nanos> wake) {
  std::unique_lock lock(mutex_);
  const auto arrived = [this] { return !inbox_.empty(); };
  Nanos left = kLookInterval;
  if (wake) left = std::min(left, *wake - clock_.monotonic());
  arrived_.wait_for(lock, std::chrono::nanoseconds(left), arrived);
}

void Engine::accept(Inbox inbox) {
  for (Arrival& arrival : inbox.arrivals) {
    core_.add(arrival.number, std::move(arrival.request), std::move(arrival.sink), arrival.arrived);
  }
  for (const RequestNumber number : inbox.aborts) core_.abort(number, clock_.monotonic());
}

// Room is made before the news goes out: whoever hears of an end may submit again at once.
void Engine::publish() {
  std::vector<Delivery> deliveries = core_.take_deliveries();
  {
    const std::lock_guard lock(mutex_);
    live_ = core_.live() + static_cast<int>(inbox_.arrivals.size());
    load_ = core_.load();
  }
  for (const Delivery& delivery : deliveries) delivery.sink->on_update(delivery.update);
}

}  // namespace hw::engine
