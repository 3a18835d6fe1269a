// Figures: what a simulated run comes to, and what is different in another one, with its cause.
#pragma once

#include <optional>
#include <vector>

#include "planner/simulation.h"

namespace hw::planner {

// A distribution, in milliseconds.
struct Spread {
  double mean = 0, p50 = 0, p95 = 0, p99 = 0;
};

// What a request must keep to count as good; absent: anything.
struct Goals {
  std::optional<double> ttft_ms, tpot_ms, e2e_ms;
  bool any() const { return ttft_ms || tpot_ms || e2e_ms; }
};

// One run.
struct Figures {
  int64_t requests = 0;  // answered
  int64_t refused = 0;
  double span_s = 0;  // from the first sending to the last token
  double requests_per_s = 0;
  double output_tokens_per_s = 0;
  double good_share = 1;  // of all requests, refused ones included, that kept the goals
  Spread ttft, tbt, tpot, e2e, queue;
  int64_t steps = 0;
  double tokens_per_step = 0;
  double decodes_per_step = 0;
  double mixed_share = 0;  // of the steps, those that compute prompts
  double longest_step_ms = 0;
  double busy_share = 0;  // of the span, mean of the instances
  double kv_most = 0;     // share of the blocks that were in use at once
  int64_t preemptions = 0;
  double cached_share = 0;    // of prompt tokens, from the prefix cache
  scheduler::Hold held_by{};  // what held the queue longest
  double held_share = 0;      // of the span in which it did, mean of the instances
};

// Precondition: `outcome` is of `instances` instances with `options`.
Figures figures_of(const Outcome& outcome, const scheduler::Options& options, int instances,
                   const Goals& goals);

// Why a latency changed. One cause is named, that which moved most.
enum class Cause : unsigned char {
  kNothing,     // no figure moved by more than kNoise
  kQueue,       // requests wait longer, or less, for their first step
  kPreemption,  // sequences lose their blocks more, or less, often, and are computed again
  kPrefill,     // a prompt takes longer, or less, from its first step to its token
  kStepLength,  // answers are held up by longer, or shorter, steps that compute prompts
  kMixing,      // more, or fewer, steps compute prompts beside answers
  kBatch,       // more, or fewer, sequences share a step
};
inline constexpr double kNoise = 0.02;

// What is different in `after`.
struct Difference {
  double ttft_p99 = 0, tbt_p99 = 0, tpot_p50 = 0, e2e_p95 = 0;  // relative: -0.61 is 61 % less
  double throughput = 0;                                        // tokens a second, likewise
  Cause ttft_cause = Cause::kNothing;
  Cause tbt_cause = Cause::kNothing;
};
Difference difference_of(const Figures& before, const Figures& after);

// Whether one more instance helps.
enum class Advice : unsigned char {
  kHelps,    // the goals are kept, TTFT at P99 at least halves, or a fifth more is answered
  kLittle,   // it moves something, but neither of these
  kDoesNot,  // nothing moves by more than kNoise: the time is not spent waiting
};
Advice advise(const Figures& now, const Figures& with_one_more, const Goals& goals);

}  // namespace hw::planner
