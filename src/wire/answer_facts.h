// AnswerFacts: what a whole (not streamed) answer says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "wire/engine_times.h"
#include "wire/upstream_error.h"
#include "wire/usage.h"

namespace hw::wire {

// Read from a successful answer's body.
struct AnswerFacts {
  Usage usage;
  EngineTimes engine;
  std::string finish_reason;  // as in StreamObserver
  std::string id;
  uint64_t output_bytes = 0;    // UTF-8 bytes of generated text, all channels
  int64_t counted_tokens = -1;  // count_tokens' answer, which is no usage; -1 in any other
  // The member that makes it an answer of the dialect is there: choices, output, content, data, or
  // input_tokens for count_tokens. Without it the body is some other JSON object.
  bool has_answer = false;
  // A failure inside a successful status: an `error` object, or a response with status "failed".
  bool error = false;
  ErrorWords error_words;
};

// Reads the body `data[0, size)` of an answer with a status below 300, of which `capacity` bytes
// may be read. kUpstreamDialect, with an excerpt, where it is no complete JSON object.
Result<AnswerFacts> scan_answer(Dialect dialect, std::string_view body);

// Reads how many tokens an instance's /tokenize counted: `{"count": N}`. kUpstreamDialect where
// the answer says no such thing.
Result<int64_t> read_token_count(std::string_view body);

}  // namespace hw::wire
