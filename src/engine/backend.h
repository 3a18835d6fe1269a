// The seam between scheduling and computing: a plan of one step goes in, its tokens come out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/request.h"
#include "scheduler/step_plan.h"

namespace hw::engine {

using scheduler::BlockId;
using scheduler::CacheChange;
using scheduler::kBlockTokens;
using scheduler::StepShape;

// A part of one sequence that a step computes. The spans hold until the step's result is applied.
struct StepItem {
  RequestNumber sequence = 0;
  int slot = 0;                   // which of the backend's sequences; below max_num_seqs
  int start = 0;                  // position of the first of `tokens`
  std::span<const Token> tokens;  // at least one
  // With a slot that is empty: the positions before `start`, which are in cached blocks.
  int hit_tokens = 0;
  std::span<const BlockId> blocks;  // of kBlockTokens positions each, those of `tokens` included
  bool sample = false;              // the last one's scores become the next token
  std::span<const Token> prompt;    // of the request
  std::span<const Token> output;    // generated so far
  const Sampling* sampling = nullptr;
};

// One step. A backend does, in this order and even without items: `cache_changes` (kept ones are
// copied out of the slot that computed them, dropped ones freed), empties the slots of `release`,
// copies the hits of items into their slots, computes the items.
struct StepPlan {
  std::vector<CacheChange> cache_changes;
  std::vector<int> release;
  std::vector<StepItem> items;
  StepShape shape;            // of all items together
  std::optional<Nanos> wake;  // nothing to do before this time, though requests wait
  bool empty() const { return cache_changes.empty() && release.empty() && items.empty(); }
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
// done nothing was sampled, and what its items' slots hold is unknown until they are released;
// cached blocks are as before.
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
  // From any thread: the step that runs, and every later one until restart(), ends soon without a
  // result. For shutting down, and for a step that hangs.
  virtual void interrupt() = 0;
  // How long the step will take, as far as the backend knows; 0: it does not.
  virtual Nanos predict(const StepPlan&) { return 0; }
  // A new worker in the place of one that is lost: nothing is in its slots, nothing is cached, and
  // an interrupt() before is forgotten. Blocks as long as that takes. An error: there is still
  // none.
  virtual Status restart() = 0;
};

}  // namespace hw::engine
