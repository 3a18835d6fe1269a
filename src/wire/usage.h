// Usage: token counts as an upstream reported them, brought to one meaning for all dialects.
#pragma once

#include <cstdint>

#include "base/dialect.h"
#include "json/scan.h"

namespace hw::wire {

// `input` is all input; `cached_input` and `cache_creation_input` are parts of it, `reasoning` is a
// part of `output`. Anthropic reports the parts beside each other and OpenAI inside each other;
// here both mean the same.
struct Usage {
  int64_t input = 0;
  int64_t cached_input = 0;
  int64_t cache_creation_input = 0;
  int64_t output = 0;
  int64_t reasoning = 0;
  bool told = false;  // the upstream reported usage at all
  friend bool operator==(const Usage&, const Usage&) = default;
};

// A rule of thumb for English, for who is told no usage; what rests on it is marked as an estimate.
inline constexpr uint64_t kBytesPerToken = 4;
// How many tokens `bytes` of text may be, rounded up.
constexpr int64_t estimated_tokens(uint64_t bytes) {
  return static_cast<int64_t>((bytes + kBytesPerToken - 1) / kBytesPerToken);
}

// Takes a `usage` object in. Where several come in one stream the last report of a field wins; an
// Anthropic input of 0 after a larger one is a server that repeats only what changed, and ignored.
// `cached_tokens` outside the object (SGLang, llama.cpp) is the engine's, not part of this.
void read_usage(Dialect dialect, json::Object object, Usage& usage);

}  // namespace hw::wire
