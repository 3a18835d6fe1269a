// What one request wants of the engine, how it ends, and the durations that are told about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "scheduler/request.h"
#include "scheduler/sequence.h"

namespace hw::engine {

using scheduler::finish_reason_name;
using scheduler::FinishReason;
using scheduler::kFinishReasonCount;
using scheduler::RequestNumber;  // counts up within one engine, from 1
using scheduler::Token;

// How the next token is drawn from the model's scores.
struct Sampling {
  float temperature = 1.0f;       // 0: always the best one. 0 to 2
  float top_p = 1.0f;             // the smallest set of this probability. Above 0, at most 1
  int top_k = 0;                  // the k best only; 0: all
  float min_p = 0.0f;             // those with at least this share of the best one's chance. 0 to 1
  float presence_penalty = 0.0f;  // taken off a token's score if it was generated before. -2 to 2
  float frequency_penalty = 0.0f;  // taken off for each time it was generated. -2 to 2
  // Divides (or, of a score below 0, multiplies) the score of a token that is in prompt or answer;
  // as in vLLM. Above 0, at most 2; 1: nothing.
  float repetition_penalty = 1.0f;
  std::vector<std::pair<Token, float>> bias = {};  // added to scores. -100 to 100
  uint64_t seed = 0;                               // same seed and same scores: same tokens
};

// One completion that is asked for.
struct Request {
  std::vector<Token> prompt;  // at least one
  int output_tokens_max = 0;  // at least 1
  Sampling sampling;
  std::vector<std::string>
      stop;                 // the answer ends before the first of these; valid UTF-8, not empty
  bool ignore_end = false;  // go on after the model's end token (for measuring)
  int priority = 0;         // lower goes first, where scheduler_policy is priority
  std::string cache_salt;   // cached prefixes are shared only between requests of one salt
  std::string id;           // what the log calls it; empty: its number
};

// What is known of a request when it is over. A duration is absent where its end never came.
struct Record {
  int prompt_tokens = 0;
  int output_tokens = 0;  // the end token counts
  int cached_tokens = 0;  // of the prompt, taken from the prefix cache
  int preemptions = 0;
  scheduler::Waits waits;               // what held it while it was queued, preemptions included
  std::optional<Nanos> queue_ns;        // arrival to first step
  std::optional<Nanos> prefill_ns;      // first step to first token
  std::optional<Nanos> decode_ns;       // first token to last token
  std::optional<Nanos> first_token_ns;  // arrival to first token: queue and prefill
  Nanos total_ns = 0;                   // arrival to the end
};

// The durations of a sequence that is over.
Record record_of(const scheduler::Sequence& sequence);

}  // namespace hw::engine
