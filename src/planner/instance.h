// Instance: one scheduler whose steps take as long as the cost model says.
#pragma once

#include <optional>
#include <vector>

#include "gpu_model/cost.h"
#include "planner/gap_histogram.h"
#include "scheduler/scheduler.h"

namespace hw::planner {

// Whether stretches in which only lengths change are taken in one go. Results are the same.
enum class Stretches : bool { kStepByStep, kSkipped };

// One request that is over.
struct Ended {
  scheduler::RequestNumber number = 0;
  Nanos admitted = 0;  // its first step began
  Nanos first_token = 0;
  Nanos last_token = 0;
  int output_tokens = 0;
  int preemptions = 0;
  int cached_tokens = 0;
};

// What an instance has done, beside what its scheduler counts.
struct Work {
  Nanos busy = 0;  // computing
  Nanos longest_step = 0;
  int64_t blocks_most = 0;  // in use at once
  int64_t mixed_steps = 0;  // that computed prompts
  GapHistogram gaps;        // between tokens of one answer
};

// One engine under a virtual clock. One thread; `cost` outlives it and may be shared by instances
// of a thread.
class Instance {
 public:
  Instance(const scheduler::Options& options, gpu_model::StepCost& cost, Stretches stretches);

  // A request reaches the engine at `at`, which is not before any earlier call's time.
  Status add(scheduler::Request request, Nanos at);
  // When the next step begins; absent: nothing to do.
  std::optional<Nanos> next_step_at() const;
  // Computes the next step, or more of the same kind as long as they begin before `until`. Those
  // that end are appended. Precondition: next_step_at().
  void advance(Nanos until, std::vector<Ended>& ended);

  // What it has done so far.
  const Work& work() const { return work_; }
  // Its scheduler, for what it counts.
  const scheduler::Scheduler& scheduler() const { return scheduler_; }

 private:
  void skip(int64_t steps, Nanos until);
  void count_step(const scheduler::StepPlan& plan, Nanos length);
  Nanos price(const scheduler::StepPlan& plan);

  scheduler::Scheduler scheduler_;
  gpu_model::StepCost& cost_;
  Stretches stretches_;
  Nanos now_ = 0;  // end of the last step
  Work work_;
  std::vector<scheduler::Event> events_;
};

}  // namespace hw::planner
