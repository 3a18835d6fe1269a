// What one request wants of the scheduler, and how requests end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "scheduler/block_hash.h"

namespace hw::scheduler {

using RequestNumber = uint64_t;  // unique while the request lives; breaks ties, lower first

// One request. Either `prompt` has its tokens, or only `prompt_tokens` says how many there are:
// for simulation, where lengths are all that matters.
struct Request {
  RequestNumber number = 0;
  std::vector<Token> prompt;
  int prompt_tokens = 0;           // where `prompt` is empty; otherwise its size holds
  int output_tokens_max = 0;       // at least 1
  int output_tokens_min = 0;       // the end token counts for nothing before so many tokens
  bool ignore_end = false;         // goes on after the model's end token (for measuring)
  std::vector<Token> stop_tokens;  // each ends the answer, as the model's end token does
  int priority = 0;                // lower goes first; used by Policy::kPriority alone
  std::string cache_salt;          // prefixes are shared only between requests of one salt
  // Without tokens: the hashes of the prompt's full blocks, as a trace has them. May be fewer.
  std::vector<BlockHash> prompt_hashes;
  Nanos arrived = 0;
  std::optional<Nanos> timeout_ns;  // from `arrived`, waiting included; absent: the options' one
};

// How a request ended. Each is final, and reached once.
enum class FinishReason : uint8_t {
  kStop,     // the model's end token, a stop token, or a stop string
  kLength,   // output_tokens_max or the model's length
  kAborted,  // whoever asked wants it no more
  kTimeout,  // its time-out passed
  kError,    // the backend failed
};
inline constexpr int kFinishReasonCount = 5;  // for tables

// "stop", "length", "abort", "timeout", "error".
std::string_view finish_reason_name(FinishReason reason);

}  // namespace hw::scheduler
