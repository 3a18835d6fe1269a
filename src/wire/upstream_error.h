// UpstreamErrorBody: what the body of an upstream's error answer says.
#pragma once

#include <string>
#include <string_view>

#include "base/dialect.h"
#include "json/scan.h"

namespace hw::wire {

// Bounds of what is kept of an upstream's words.
inline constexpr size_t kWordBytesMax = 64;
inline constexpr size_t kErrorMessageBytesMax = 1024;

// The words of one error; empty where it does not say them. `type` and `code` hold at most
// kWordBytesMax bytes, `message` kErrorMessageBytesMax.
struct ErrorWords {
  std::string type, code, message;
  friend bool operator==(const ErrorWords&, const ErrorWords&) = default;
};

// Takes an `error` member in: an object with type, code (also a number) and message, or a string.
void read_error(const json::Value& error, ErrorWords& words);
// The same from the object itself.
void read_error(json::Object error, ErrorWords& words);

// How an upstream wrote its error.
enum class ErrorShape : uint8_t {
  kNone,     // HTML, text, nothing, or JSON without a message
  kForeign,  // JSON with a message, not in the family's shape ({"detail": ...}, {"message": ...})
  kFamily,   // as the family's clients expect it: can be passed on as it is
};

struct UpstreamErrorBody {
  ErrorShape shape = ErrorShape::kNone;
  ErrorWords words;
};

// Reads the body of an answer with an error status. OpenAI: {"error": {"message", "type", "code"}};
// Anthropic: {"type": "error", "error": {"type", "message"}}.
UpstreamErrorBody read_error_body(Family family, std::string_view body);

// Up to 200 printable characters of `body` for a message: white space folded, control characters
// and broken UTF-8 left out, "..." where it was cut, "(empty)" for nothing.
std::string excerpt(std::string_view body);

// Sets `out` to `text`, cut at `bytes_max` on a character's edge.
void keep(std::string& out, std::string_view text, size_t bytes_max);

}  // namespace hw::wire
