// What one request wants of the engine, how it ends, and the durations that are told about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace hw::engine {

using Token = int32_t;           // an index into the model's vocabulary
using RequestNumber = uint64_t;  // counts up within one engine, from 1

// How the next token is drawn from the model's scores.
struct Sampling {
  float temperature = 1.0f;        // 0: always the best one. 0 to 2
  float top_p = 1.0f;              // the smallest set of this probability. Above 0, at most 1
  int top_k = 0;                   // the k best only; 0: all
  float presence_penalty = 0.0f;   // taken off a token's score if it was generated before. -2 to 2
  float frequency_penalty = 0.0f;  // taken off for each time it was generated. -2 to 2
  uint64_t seed = 0;               // same seed and same scores: same tokens
};

// One completion that is asked for.
struct Request {
  std::vector<Token> prompt;  // at least one
  int output_tokens_max = 0;  // at least 1
  Sampling sampling;
  std::vector<std::string>
      stop;                 // the answer ends before the first of these; valid UTF-8, not empty
  bool ignore_end = false;  // go on after the model's end token (for measuring)
};

// How a request ended.
enum class FinishReason : uint8_t {
  kStop,     // the model's end token, or a stop string
  kLength,   // output_tokens_max or the model's length
  kAborted,  // whoever asked wants it no more
  kTimeout,  // request_timeout_seconds passed
  kError,    // the backend failed
};
inline constexpr int kFinishReasonCount = 5;  // for tables

// "stop", "length", "abort", "timeout", "error".
std::string_view finish_reason_name(FinishReason reason);

// What is known of a request when it is over. A duration is absent where its end never came.
struct Record {
  int prompt_tokens = 0;
  int output_tokens = 0;  // the end token counts
  int cached_tokens = 0;  // of the prompt, taken from the prefix cache
  int preemptions = 0;
  std::optional<Nanos> queue_ns;        // arrival to first step
  std::optional<Nanos> prefill_ns;      // first step to first token
  std::optional<Nanos> decode_ns;       // first token to last token
  std::optional<Nanos> first_token_ns;  // arrival to first token: queue and prefill
  Nanos total_ns = 0;                   // arrival to the end
};

}  // namespace hw::engine
