#include "engine/engine.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "watchdog/watchdog.h"

namespace hw::engine {
namespace {

// A failed step may be chance; so many in a row are a dead worker.
constexpr int kFailuresOfDead = 3;
// First pause before a worker that would not start is tried again, doubled up to the longest.
constexpr Nanos kRestartPause = 100 * kMillisecond;
constexpr Nanos kRestartPauseMax = 30 * kSecond;
// A step that hangs is given up when it has taken so many times as long as it may.
constexpr int kBoundsOfHung = 2;

// As the watchdog counts it.
Nanos bound_of_step(Nanos predicted) {
  const watchdog::Bounds bounds;
  if (predicted <= 0) return bounds.no_step_unpredicted_ns;
  return std::max(bounds.no_step_floor_ns, predicted * bounds.no_step_predictions);
}

}  // namespace

Engine::Engine(const Limits& limits, std::unique_ptr<Backend> backend, const Tokenizer& tokenizer,
               const Clock& clock, const EngineMetrics& metrics, EngineLog* log)
    : limits_(limits),
      backend_(std::move(backend)),
      clock_(clock),
      metrics_(metrics),
      log_(log),
      core_(limits, tokenizer, metrics, log),
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

void Engine::abort_id(std::string id, std::function<void(int)> done) {
  call([this, id = std::move(id), done = std::move(done)] {
    done(core_.abort_id(id, clock_.monotonic()));
  });
}

void Engine::reset_prefix_cache(std::function<void(bool)> done) {
  call([this, done = std::move(done)] { done(core_.reset_prefix_cache()); });
}

void Engine::suffer(const ReleaseFaults& faults) {
  call([this, faults] {
    faults_ = faults;
    core_.leak(faults.leak_share);
    core_.lose_blocks(faults.lost_blocks_share);
  });
}

void Engine::call(std::function<void()> what) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    inbox_.calls.push_back(std::move(what));
  }
  arrived_.notify_one();
}

void Engine::supervise() {
  const Nanos began = step_began_.load(std::memory_order_relaxed);
  const Nanos bound = step_bound_.load(std::memory_order_relaxed);
  const Nanos took = began == 0 ? 0 : clock_.monotonic() - began;
  const bool hangs = took > bound;
  metrics_.live.set(hangs ? 0 : 1);
  if (!hangs) {
    hangs_.store(false, std::memory_order_relaxed);
    return;
  }
  if (!hangs_.exchange(true, std::memory_order_relaxed)) {
    const auto signature = static_cast<size_t>(watchdog::Signature::kNoStep);
    metrics_.alarms[signature].add();
    log_error("watchdog", concat("no_step: a step takes ", took / kMillisecond, " ms, allowed ",
                                 bound / kMillisecond));
  }
  if (took > bound * kBoundsOfHung && !gives_up_.exchange(true)) backend_->interrupt();
}

Snapshot Engine::snapshot() const {
  Snapshot snapshot;
  const Nanos step_began = step_began_.load(std::memory_order_relaxed);
  if (step_began != 0) snapshot.step_began = step_began;
  snapshot.step_bound = step_bound_.load(std::memory_order_relaxed);
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
    compute(plan);
    publish();
  }
}

void Engine::compute(const StepPlan& plan) {
  const Nanos predicted = plan.items.empty() ? 0 : backend_->predict(plan);
  const Nanos began = clock_.monotonic();
  step_bound_.store(bound_of_step(predicted), std::memory_order_relaxed);
  step_began_.store(began, std::memory_order_relaxed);
  const StepResult result = backend_->execute(plan);
  step_began_.store(0, std::memory_order_relaxed);
  const Nanos took = clock_.monotonic() - began;
  if (!plan.items.empty()) {
    ++steps_;
    self_check_.step_ended(took, predicted);
    if (log_ != nullptr) {
      log_->step(steps_, plan.shape, began, took, predicted, result.outcome,
                 wall_ns() - monotonic_ns());
    }
  }
  complete(result);
}

void Engine::complete(const StepResult& result) {
  switch (result.outcome) {
    case StepOutcome::kDone:
      // A step that only empties slots says nothing of the worker.
      if (!core_.planned().items.empty()) failures_ = 0;
      core_.complete(result, clock_.monotonic());
      return;
    case StepOutcome::kInterrupted:
      if (gives_up_) return replace_worker("a step hung");
      // For a stop: its sequences are aborted, not failed.
      core_.abort_all(clock_.monotonic());
      core_.complete(result, clock_.monotonic());
      return;
    case StepOutcome::kFailed:
      ++failures_;
      // Computing it again may help once or twice; whoever makes every step fail must end.
      if (limits_.on_worker_loss == WorkerLoss::kRecompute && failures_ < kFailuresOfDead) {
        return replace_worker(result.error);
      }
      core_.complete(result, clock_.monotonic());
      if (failures_ >= kFailuresOfDead) replace_worker(result.error);
      return;
  }
}

// The worker is gone, and with it the step under way and all that was in its slots.
void Engine::replace_worker(std::string_view why) {
  log_error("engine", concat("the worker is lost (", why, "); its sequences ",
                             limits_.on_worker_loss == WorkerLoss::kError ? "end with an error"
                                                                          : "are computed again"));
  const Nanos now = clock_.monotonic();
  if (limits_.on_worker_loss == WorkerLoss::kError) core_.fail_running(now);
  core_.lose_backend(now);
  publish();
  Nanos pause = kRestartPause;
  for (;;) {
    const Status started = backend_->restart();
    metrics_.worker_restarts.add();
    gives_up_ = false;
    if (started.has_value()) {
      log_warning("engine", "a new worker is in its place");
      return;
    }
    log_error("engine", concat("no new worker: ", started.error().message));
    std::unique_lock lock(mutex_);
    const auto stops = [this] { return stopped_; };
    if (arrived_.wait_for(lock, std::chrono::nanoseconds(pause), stops)) return;
    pause = std::min(2 * pause, kRestartPauseMax);
  }
}

// After planning, which has ended those whose deadline passed in a long step.
void Engine::check_self(std::optional<Nanos> holds_until) {
  const Nanos now = clock_.monotonic();
  if (!self_check_.due(now)) return;
  const Healing healing = self_check_.look(core_.scheduler(), core_.listened(), holds_until, now);
  for (const RequestNumber number : healing.evict) core_.evict(number, now);
  if (!healing.reclaim) return;
  const int64_t blocks = core_.reclaim_blocks();
  metrics_.reclaimed_blocks.add(blocks);
  log_warning("watchdog", concat(blocks, " blocks of nobody are free again"));
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
  for (const RequestNumber number : inbox.aborts) {
    const bool lost =
        faults_.lost_abort_share > 0 && fault_random_.unit() < faults_.lost_abort_share;
    if (!lost) core_.abort(number, clock_.monotonic());
  }
  for (const std::function<void()>& what : inbox.calls) what();
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
