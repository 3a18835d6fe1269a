// StepPlan: one step of the engine, which sequence computes how many tokens in which blocks; and
// StepResult, what computing it gave.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "scheduler/sequence.h"

namespace hw::scheduler {

// A part of one sequence that the step computes: `count` tokens from position `start` on, into the
// sequence's blocks. Pointers hold until the step is applied.
struct StepItem {
  const Sequence* sequence = nullptr;
  int start = 0;
  int count = 0;
  int hit_tokens = 0;   // found in the prefix cache at this admission: the first `start` positions
  bool sample = false;  // the last token's scores become the next token
  bool decode = false;  // one token behind an answer that has begun; otherwise prefill
};

// What happened to the prefix cache, in order. Kept by a backend that has to follow.
struct CacheChange {
  // Which way.
  enum class Kind : uint8_t { kKept, kDropped };
  Kind kind = Kind::kKept;
  BlockId block = kNullBlock;
  int slot = -1;   // kKept: of the sequence that has computed it
  int place = -1;  // kKept: it holds the positions from place * kBlockTokens on
};

// The composition of a step.
struct StepShape {
  int sequences = 0;
  int tokens = 0;
  int prefill_tokens = 0;
  int decode_tokens = 0;       // as many sequences decode
  int longest = 0;             // positions of the longest sequence, this step's included
  int64_t context_tokens = 0;  // positions of all sequences together, likewise
  double mean_length() const {
    return sequences == 0 ? 0.0 : static_cast<double>(context_tokens) / sequences;
  }
};

// One step. A backend that keeps sequences by slot does, in this order: `cache_changes`, empties
// the slots of `released`, copies the hits of items, computes the items. All but the items must be
// done even where there are no items.
struct StepPlan {
  std::vector<StepItem> items;
  std::vector<int> released;               // slots whose sequences have left
  std::vector<CacheChange> cache_changes;  // recorded with Options::cache_when kComputed alone
  StepShape shape;
  std::optional<Hold> held;   // what keeps the queue from moving; absent: nobody waits
  std::optional<Nanos> wake;  // without items: nothing to do before this time, though some wait
};

// How a step ended.
enum class StepOutcome : uint8_t {
  kDone,
  kFailed,  // nothing was sampled, and what its sequences' new blocks hold is unknown
};

// A token that a step drew for one sequence.
struct SampledToken {
  Token token = 0;
  bool ends = false;  // it is one with which the model ends its answer
};

// One sampled token for each item with `sample`, in their order; none where the step failed.
struct StepResult {
  StepOutcome outcome = StepOutcome::kDone;
  std::vector<SampledToken> sampled;
};

}  // namespace hw::scheduler
