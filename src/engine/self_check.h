// SelfCheck: shows the scheduler to the watchdog once a plan is made, and tells what that finds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/engine_metrics.h"
#include "scheduler/scheduler.h"
#include "watchdog/watchdog.h"

namespace hw::engine {

// How often the watchdog looks while there are steps, and how long an idle engine sleeps at most.
inline constexpr Nanos kLookInterval = kSecond / 2;

// What is to be done.
struct Healing {
  std::vector<RequestNumber> evict;
  bool reclaim = false;  // blocks that no live sequence has
};

// On the engine's thread. A look costs about as much as a step's planning, twice a second.
class SelfCheck {
 public:
  explicit SelfCheck(const EngineMetrics& metrics, const watchdog::Bounds& bounds = {});

  // Whether kLookInterval has passed since the last look.
  bool due(Nanos now) const { return now >= next_look_; }
  // A step has ended; predicted 0: nobody knew.
  void step_ended(Nanos real_ns, Nanos predicted_ns) {
    watchdog_.step_ended(real_ns, predicted_ns);
  }
  // After a plan was made: logs and counts what is newly wrong; what is to be done about it comes
  // back, and is the caller's to do. `listened` is the number of sequences whose answer somebody
  // still waits for; `holds_until` that of the last plan.
  Healing look(const scheduler::Scheduler& scheduler, int listened,
               std::optional<Nanos> holds_until, Nanos now);
  // Of the last look.
  const watchdog::Watchdog& watchdog() const { return watchdog_; }

 private:
  watchdog::Snapshot snapshot_of(const scheduler::Scheduler& scheduler);
  void add_view(const scheduler::Sequence& sequence);

  watchdog::Watchdog watchdog_;
  EngineMetrics metrics_;
  Nanos next_look_ = 0;
  std::vector<watchdog::SequenceView> views_;  // kept for its room, as below
  std::vector<bool> counted_;                  // by block: some live sequence has it
  int64_t blocks_live_ = 0;
};

}  // namespace hw::engine
