// One request inside the scheduler: how far it is computed, its blocks, and what it waited for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "scheduler/block_pool.h"
#include "scheduler/request.h"

namespace hw::scheduler {

// Where a sequence is.
enum class State : uint8_t {
  kWaiting,    // never admitted, or not yet
  kRunning,    // admitted: has a slot and blocks
  kPreempted,  // lost its blocks to others; back at the queue's front, computed again later
  kFinished,   // over; its blocks are free
};

// What keeps the queue from moving. One reason holds for the whole queue in a step, since nobody
// overtakes its head.
enum class Hold : uint8_t {
  kStep,        // nothing: it arrived while a step was computed, and waits for its end
  kMaxNumSeqs,  // max_num_seqs run
  kBudget,      // the step's tokens are used up, or do not hold an unchunked prompt
  kBlocks,      // too few free blocks for the head, watermark and reservation included
  kBatchWait,   // idle, waiting for company
  kGroup,       // the head's length does not go with those that run
  kPreemption,  // the step preempted somebody, so nobody is admitted
};
inline constexpr int kHoldCount = 7;  // for tables

// "step", "max_num_seqs", "budget", "blocks", "batch_wait", "group", "preemption".
std::string_view hold_name(Hold hold);

// Time and steps spent waiting, by what held the queue.
struct Waits {
  std::array<Nanos, kHoldCount> ns{};
  std::array<int64_t, kHoldCount> steps{};

  // Steps that were computed meanwhile without this sequence being admitted.
  int64_t steps_waited() const;
  Nanos time_waited() const;
  // The reason that took most of the time; kStep where no time passed.
  Hold longest() const;
};

// Owned by the scheduler; others read. What every step touches is in the first cache line.
struct alignas(64) Sequence {
  int length = 0;         // tokens known: prompt and output
  int computed = 0;       // of them, whose keys and values are in blocks or in the step under way
  int length_end = 0;     // it ends by length when `length` gets here
  int room = 0;           // tokens that its blocks hold
  int scheduled = 0;      // of `computed`, those in the step under way
  int prompt_tokens = 0;  // of `length`
  int slot = -1;          // 0 to max_num_seqs - 1 while running; no two have the same
  State state = State::kWaiting;
  bool has_content = false;      // `tokens` holds them; otherwise only lengths are known
  bool has_stop_tokens = false;  // there are request.stop_tokens
  bool fresh = false;            // queued since the last schedule()
  bool warned = false;           // its long wait has been told
  std::optional<FinishReason> finish_after_step;  // ended while its step was being computed
  Nanos last_token = 0;                           // when; valid with output
  std::optional<Nanos> first_token;               // when

  std::vector<BlockId> blocks;  // in the order of their tokens
  RequestNumber number = 0;
  int cached_tokens = 0;  // of the prompt, found in the prefix cache when first admitted
  int preemptions = 0;
  std::vector<Token> tokens;      // prompt, then output
  std::vector<BlockHash> hashes;  // of the full blocks among the known tokens
  int registered = 0;             // of `blocks`, those that are in the prefix cache under our hash
  Request request;                // its prompt and hashes have been moved out

  Nanos arrived = 0;
  Nanos deadline = 0;             // INT64_MAX: none
  std::optional<Nanos> admitted;  // first step begun
  std::optional<Nanos> finished;
  FinishReason finish_reason = FinishReason::kStop;  // valid with `finished`
  Waits waits;                                       // up to the last admission
  Nanos queued_since = 0;                            // valid while fresh
  Waits queued_at;                                   // the queue's totals when it was queued last

  // Tokens generated so far.
  int output_tokens() const { return length - prompt_tokens; }
  // Tokens known but neither computed nor being computed; 1 while decoding.
  int pending() const { return length - computed; }
  bool over() const { return state == State::kFinished; }
};

}  // namespace hw::scheduler
