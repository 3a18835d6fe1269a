// The seam between scheduling and computing: a plan of one step goes in, its tokens come out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/request.h"

namespace hw::engine {

// A part of one sequence that a step computes. The spans hold until the step's result is applied.
struct StepItem {
  RequestNumber sequence = 0;
  int slot = 0;                   // which of the backend's sequences; below Limits::sequences_max
  int start = 0;                  // position of the first of `tokens`
  std::span<const Token> tokens;  // at least one
  bool sample = false;            // the last one's scores become the next token
  std::span<const Token> output;  // generated so far
  const Sampling* sampling = nullptr;
};

// One step. Slots in `release` are emptied before `items` are computed, so a slot may be in both.
struct StepPlan {
  std::vector<int> release;
  std::vector<StepItem> items;
  int tokens = 0;             // of all items together; at most Limits::step_tokens_max
  std::optional<Nanos> wake;  // nothing to do before this time, though requests wait
  bool empty() const { return release.empty() && items.empty(); }
};

// A token that a step drew for one sequence.
struct SampledToken {
  RequestNumber sequence = 0;
  Token token = 0;
  bool ends = false;  // it is a token with which the model ends its answer
};

// How a step ended.
enum class StepOutcome : uint8_t {
  kDone,
  kInterrupted,  // by interrupt()
  kFailed,
};

// What a step gave: one sampled token for each item with `sample`, in their order. When it is not
// done nothing was sampled, and what its items' slots hold is unknown until they are released.
struct StepResult {
  StepOutcome outcome = StepOutcome::kDone;
  std::string error;  // why it failed, for the log
  std::vector<SampledToken> sampled;
};

// Computes. The normal flow is `while (plan = schedule()) apply(execute(plan))`, all on one thread.
class Backend {
 public:
  virtual ~Backend() = default;
  // Computes one step; takes as long as that takes.
  virtual StepResult execute(const StepPlan& plan) = 0;
  // From any thread: the step that runs, and every later one, ends soon without a result. For
  // shutting down.
  virtual void interrupt() = 0;
};

}  // namespace hw::engine
