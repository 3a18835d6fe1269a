// EngineTimes: an engine's own durations, read from where each engine writes them.
#pragma once

#include <cstdint>
#include <string_view>

#include "json/scan.h"

namespace hw::wire {

// Durations in nanoseconds; -1 where the engine did not tell. Durations may cross hosts, clocks
// never do, so absolute times of an engine only ever enter as differences.
struct EngineTimes {
  std::string_view source;  // "headway", "vllm", "sglang", "llama.cpp", "tgi"; empty: none told
  int64_t queue_ns = -1;    // waiting for a place in the batch
  int64_t prefill_ns = -1;  // scheduled to first token
  int64_t kv_transfer_ns = -1;
  int64_t decode_ns = -1;       // first to last token
  int64_t first_token_ns = -1;  // the engine's own figure: received (or queued) to first token
  int64_t cached_tokens = -1;   // prompt tokens that were not computed
  bool told() const { return !source.empty(); }
  friend bool operator==(const EngineTimes&, const EngineTimes&) = default;
};

// Takes one response header in where it is one of TGI's (x-queue-time, in whole milliseconds); call
// it for each header of an answer. True where the header was one. A body that tells more wins, so
// call merge_engine_times() with the body's times afterwards.
bool read_engine_header(std::string_view name, std::string_view value, EngineTimes& times);

// Takes one member of an answer, or of a chunk, in where it is one of `timings` (ours, llama.cpp),
// `metrics` (vLLM), `meta_info` or `sglext` (SGLang). True where it was. Later reports replace what
// they name.
bool read_engine_member(std::string_view key, const json::Value& value, EngineTimes& times);

// The times of `body` where it has any, else those of `headers`.
EngineTimes merge_engine_times(const EngineTimes& headers, const EngineTimes& body);

}  // namespace hw::wire
