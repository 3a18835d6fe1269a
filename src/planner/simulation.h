// A discrete-event run: a workload against instances, and what its clients see.
#pragma once

#include <functional>
#include <vector>

#include "planner/instance.h"
#include "planner/workload.h"

namespace hw::planner {

// One request as its client saw it.
struct Seen {
  Nanos sent = 0;
  Nanos admitted = 0;  // its first step began
  Nanos first_token = 0;
  Nanos last_token = 0;
  int prompt_tokens = 0;
  int output_tokens = 0;
  int preemptions = 0;
  int cached_tokens = 0;

  // From sending to the first token.
  double ttft_ms() const { return static_cast<double>(first_token - sent) / 1e6; }
  // From sending to the last token.
  double e2e_ms() const { return static_cast<double>(last_token - sent) / 1e6; }
  // From sending to the beginning of its first step, what happens before the engine included.
  double queue_ms() const { return static_cast<double>(admitted - sent) / 1e6; }
  // Mean time of a token after the first; 0 where there is none.
  double tpot_ms() const {
    if (output_tokens < 2) return 0;
    return static_cast<double>(last_token - first_token) / 1e6 / (output_tokens - 1);
  }
};

// What a run gave.
struct Outcome {
  std::vector<Seen> seen;    // in the order of their ends
  scheduler::Totals totals;  // of all instances
  Work work;                 // likewise; the most and the longest of any
  int64_t refused = 0;       // could never fit, or found too many before them

  // Means over all requests, and over those with more than one token.
  double mean_ttft_ms() const;
  double mean_tpot_ms() const;
};

// How a run is made.
struct RunOptions {
  int instances =
      1;  // each job goes to the one with the fewest at that moment, the first of equals
  Stretches stretches = Stretches::kSkipped;
  // Called after every so many ends, with the jobs that are over and their number in all.
  std::function<void(int64_t ended, int64_t all)> on_progress = {};
};

// Runs `workload` to its end. The same arguments give the same outcome, bit for bit.
Outcome simulate(const scheduler::Options& options, gpu_model::StepCost& cost, Workload& workload,
                 const RunOptions& run = {});

}  // namespace hw::planner
