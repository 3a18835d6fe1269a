// A running engine: one thread that schedules and computes, requests from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
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
};

// The normal flow for a caller on any thread:
//
//   number = engine.submit(request, sink);      // an error: nothing was queued, no sink is called
//   sink->on_update(...) again and again, the last one with an ending
//   engine.abort(number);                       // wanted no more: the ending comes soon
class Engine {
 public:
  // Starts the thread. The tokenizer and the clock outlive it.
  Engine(const Limits& limits, std::unique_ptr<Backend> backend, const Tokenizer& tokenizer,
         const Clock& clock, const EngineMetrics& metrics = {});
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
  // How full it is now.
  Snapshot snapshot() const;
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
    bool stop = false;
    bool empty() const { return arrivals.empty() && aborts.empty() && !stop; }
  };

  void run();
  Inbox take_inbox();
  void wait_until(std::optional<Nanos> wake);
  void accept(Inbox inbox);
  void publish();
  void check_self(std::optional<Nanos> holds_until);

  const Limits limits_;
  const std::unique_ptr<Backend> backend_;
  const Clock& clock_;
  const EngineMetrics metrics_;
  Core core_;  // of the thread, as the next
  SelfCheck self_check_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  Inbox inbox_;   // under mutex_, as all below
  int live_ = 0;  // in the inbox or in core_, not over yet
  RequestNumber last_number_ = 0;
  bool stopped_ = false;
  Load load_;

  std::atomic<Nanos> step_began_{0};  // 0: no step
  std::thread thread_;
};

}  // namespace hw::engine
