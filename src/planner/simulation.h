// A discrete-event run: a workload against an instance, and what its clients see.
#pragma once

#include <vector>

#include "planner/instance.h"
#include "planner/workload.h"

namespace hw::planner {

// One request as its client saw it.
struct Seen {
  Nanos sent = 0;
  Nanos first_token = 0;
  Nanos last_token = 0;
  int prompt_tokens = 0;
  int output_tokens = 0;
  int preemptions = 0;

  // From sending to the first token.
  double ttft_ms() const { return static_cast<double>(first_token - sent) / 1e6; }
  // Mean time of a token after the first; 0 where there is none.
  double tpot_ms() const {
    if (output_tokens < 2) return 0;
    return static_cast<double>(last_token - first_token) / 1e6 / (output_tokens - 1);
  }
};

// What a run gave.
struct Outcome {
  std::vector<Seen> seen;  // in the order of their ends
  scheduler::Totals totals;
  int refused = 0;  // could never fit

  // Means over all requests, and over those with more than one token.
  double mean_ttft_ms() const;
  double mean_tpot_ms() const;
};

// Runs `workload` to its end. The same arguments give the same outcome, bit for bit.
Outcome simulate(const scheduler::Options& options, gpu_model::StepCost& cost, Workload& workload,
                 Stretches stretches = Stretches::kSkipped);

}  // namespace hw::planner
