// A running engine: one thread that schedules and computes, requests from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "engine/backend.h"
#include "engine/core.h"
#include "engine/limits.h"
#include "engine/self_check.h"
#include "engine/tokenizer.h"

namespace hw::engine {

// The engine's state at one moment, as of the end of the last step.
struct Snapshot {
  Load load;                        // requests not seen by a step yet count as waiting
  std::optional<Nanos> step_began;  // of the step that is being computed
  Nanos step_bound = 0;             // how long it may take before it counts as stuck
};

// Faults on purpose where sequences end, shares from 0 to 1.
struct ReleaseFaults {
  double leak_share = 0;         // of the sequences that end, which keep their blocks
  double lost_blocks_share = 0;  // of the KV cache, at once
  double lost_abort_share = 0;   // of aborts, that are not heard
};

// The normal flow for a caller on any thread:
//
//   number = engine.submit(request, sink);      // an error: nothing was queued, no sink is called
//   sink->on_update(...) again and again, the last one with an ending
//   engine.abort(number);                       // wanted no more: the ending comes soon
class Engine {
 public:
  // Starts the thread. The tokenizer and the clock outlive it.
  // As does the log, where there is one.
  Engine(const Limits& limits, std::unique_ptr<Backend> backend, const Tokenizer& tokenizer,
         const Clock& clock, const EngineMetrics& metrics = {}, EngineLog* log = nullptr);
  // As stop().
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Queues a request; its time-out runs from now. kBadRequest where it can never be computed,
  // kRateLimited above requests_max, kDraining after stop().
  Result<RequestNumber> submit(Request request, std::shared_ptr<Sink> sink);
  // Ends it with kAborted and frees its cells at the end of the step that is being computed. What
  // is over already, or unknown, is ignored.
  void abort(RequestNumber number);
  // Likewise for all whose request has this id. `done` hears on the engine's thread how many.
  void abort_id(std::string id, std::function<void(int)> done);
  // Forgets the prefix cache. `done` hears on the engine's thread whether: not while blocks are in
  // use.
  void reset_prefix_cache(std::function<void(bool)> done);
  // Other faults from now on.
  void suffer(const ReleaseFaults& faults);
  // How full it is now.
  Snapshot snapshot() const;
  // To be called from another thread than the engine's, twice a second or so: notices a step that
  // hangs, which that thread cannot, and makes the worker be replaced when it goes on hanging.
  void supervise();
  // Aborts everything and ends the thread; the sinks hear it. Again: nothing.
  void stop();

  // What holds here; does not change.
  const Limits& limits() const { return limits_; }

 private:
  struct Arrival {
    RequestNumber number;
    Request request;
    std::shared_ptr<Sink> sink;
    Nanos arrived;
  };
  struct Inbox {
    std::vector<Arrival> arrivals;
    std::vector<RequestNumber> aborts;
    std::vector<std::function<void()>> calls;
    bool stop = false;
    bool empty() const { return arrivals.empty() && aborts.empty() && calls.empty() && !stop; }
  };

  void run();
  void compute(const StepPlan& plan);
  void complete(const StepResult& result);
  void replace_worker(std::string_view why);
  void call(std::function<void()> what);
  Inbox take_inbox();
  void wait_until(std::optional<Nanos> wake);
  void accept(Inbox inbox);
  void publish();
  void check_self(std::optional<Nanos> holds_until);

  const Limits limits_;
  const std::unique_ptr<Backend> backend_;
  const Clock& clock_;
  const EngineMetrics metrics_;
  EngineLog* const log_;
  Core core_;  // of the thread, as all up to the mutex
  SelfCheck self_check_;
  ReleaseFaults faults_;
  Random fault_random_{1};
  int failures_ = 0;  // steps that failed one after the other
  int64_t steps_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  Inbox inbox_;   // under mutex_, as all below
  int live_ = 0;  // in the inbox or in core_, not over yet
  RequestNumber last_number_ = 0;
  bool stopped_ = false;
  Load load_;

  std::atomic<Nanos> step_began_{0};  // 0: no step
  std::atomic<Nanos> step_bound_{0};
  std::atomic<bool> hangs_{false};     // the step under way was told to hang
  std::atomic<bool> gives_up_{false};  // and was interrupted for that
  std::thread thread_;
};

}  // namespace hw::engine
