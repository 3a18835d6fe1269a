// AnswerFacts: what a whole (not streamed) answer says, and what an upstream's error body says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "wire/engine_times.h"
#include "wire/usage.h"

namespace hw::wire {

// Read from a successful answer's body.
struct AnswerFacts {
  Usage usage;
  EngineTimes engine;
  std::string finish_reason;  // as in StreamObserver
  std::string id;
  uint64_t output_bytes = 0;  // UTF-8 bytes of generated text, all channels
  // The member that makes it an answer of the dialect is there: choices, output, content, data, or
  // input_tokens for count_tokens. Without it the body is some other JSON object.
  bool has_answer = false;
  // A failure inside a successful status: an `error` object, or a response with status "failed".
  bool error = false;
  std::string error_type, error_code, error_message;
};

// Reads the body `data[0, size)` of an answer with a status below 300, of which `capacity` bytes
// may be read. kUpstreamDialect, with an excerpt, where it is no complete JSON object.
Result<AnswerFacts> scan_answer(Dialect dialect, std::string_view body);

// How an upstream wrote its error.
enum class ErrorShape : uint8_t {
  kNone,     // HTML, text, nothing, or JSON without a message
  kForeign,  // JSON with a message, not in the family's shape ({"detail": ...}, {"message": ...})
  kFamily,   // as the family's clients expect it: can be passed on as it is
};

// What an upstream's error body says; the words are empty where it does not say them.
struct UpstreamErrorBody {
  ErrorShape shape = ErrorShape::kNone;
  std::string type, code, message;  // at most 64, 64 and 1024 bytes
};

// Reads the body of an answer with an error status. OpenAI: {"error": {"message", "type", "code"}};
// Anthropic: {"type": "error", "error": {"type", "message"}}.
UpstreamErrorBody read_error_body(Family family, std::string_view body);

// Up to 200 printable characters of `body` for a message: white space folded, control characters
// and broken UTF-8 left out, "..." where it was cut, "(empty)" for nothing.
std::string excerpt(std::string_view body);

}  // namespace hw::wire
