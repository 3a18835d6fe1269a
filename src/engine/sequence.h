// One request inside the scheduler: its tokens, how far they are computed, and its stamps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/request.h"

namespace hw::engine {

// Where a sequence is; what is over exists no more.
enum class SequenceState : uint8_t {
  kWaiting,    // in the queue, holds no slot
  kRunning,    // holds a slot and cells
  kPreempted,  // back at the queue's front; what was computed is lost
};

// Owned by the scheduler.
struct Sequence {
  RequestNumber number = 0;
  Request request;  // its prompt has been moved into `tokens`
  int prompt_tokens = 0;
  SequenceState state = SequenceState::kWaiting;
  std::vector<Token> tokens;  // prompt, then output
  int computed = 0;           // of `tokens`, whose keys and values are in the slot
  int in_flight = 0;          // of `tokens`, in the step that is being computed
  int slot = -1;
  int64_t cells = 0;  // taken from the pool for this sequence; never below `computed`
  int preemptions = 0;
  std::optional<FinishReason> finish_after_step;  // ended while its step was being computed

  Nanos arrived = 0;
  Nanos deadline = 0;
  std::optional<Nanos> scheduled;  // first step begun
  std::optional<Nanos> first_token;
  std::optional<Nanos> last_token;

  // Tokens generated so far.
  int output_tokens() const { return static_cast<int>(tokens.size()) - prompt_tokens; }
  // Tokens known but not computed: 1 while decoding, more while the prompt is being read.
  int pending() const { return static_cast<int>(tokens.size()) - computed; }
  bool decoding() const { return output_tokens() > 0 && pending() == 1; }
};

// The durations of a sequence that ends at `now`.
Record record_of(const Sequence& sequence, Nanos now);

}  // namespace hw::engine
