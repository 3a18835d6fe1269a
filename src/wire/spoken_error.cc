#include "wire/spoken_error.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace hw::wire {
namespace {

constexpr std::string_view kTooLong = "context_length_exceeded";

// One kind of failure as both families call it.
struct Kind {
  int status;
  std::string_view openai_type, anthropic_type, code;
};

// The first row of a status or a type counts.
constexpr std::array kKinds = {
    Kind{400, "invalid_request_error", "invalid_request_error", ""},
    Kind{500, "server_error", "api_error", "server_error"},
    Kind{401, "authentication_error", "authentication_error", "invalid_api_key"},
    Kind{402, "insufficient_quota", "billing_error", "insufficient_quota"},
    Kind{403, "permission_error", "permission_error", ""},
    Kind{404, "invalid_request_error", "not_found_error", ""},
    Kind{408, "server_error", "timeout_error", ""},
    Kind{413, "invalid_request_error", "request_too_large", ""},
    Kind{422, "invalid_request_error", "invalid_request_error", ""},
    Kind{429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded"},
    Kind{503, "server_error", "overloaded_error", "server_error"},
    Kind{504, "server_error", "timeout_error", "server_error"},
    // Codex takes "server_is_overloaded" as final; an overload passes.
    Kind{529, "server_error", "overloaded_error", "server_error"},
};

const Kind& kind_of(int status) {
  for (const Kind& kind : kKinds) {
    if (kind.status == status) return kind;
  }
  return status >= 400 && status < 500 ? kKinds.front() : kind_of(500);
}

// The two numbers of a message about a prompt that is too long: what fits and what was sent.
struct TooLong {
  int64_t limit = 0;
  int64_t tokens = 0;
};

// The first numbers of two digits and more in `text`.
std::optional<TooLong> two_numbers(std::string_view text) {
  constexpr size_t kDigitsMin = 2, kDigitsMax = 12;
  std::array<int64_t, 2> found{};
  size_t count = 0;
  for (size_t at = 0; at < text.size() && count < found.size();) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const size_t digits = end - at;
    if (digits >= kDigitsMin && digits <= kDigitsMax)
      parse_number(text.substr(at, digits), found[count++]);
    at = end + 1;
  }
  if (count < found.size() || found[0] == found[1]) return std::nullopt;
  return TooLong{std::min(found[0], found[1]), std::max(found[0], found[1])};
}

bool is_too_long(const ErrorWords& words) {
  if (words.code == kTooLong || words.type == "exceed_context_size_error") return true;
  constexpr std::array kPhrases = {"prompt is too long", "maximum context length",
                                   "exceeds the available context size"};
  for (const std::string_view phrase : kPhrases) {
    if (words.message.find(phrase) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

int status_of_error_type(std::string_view type) {
  for (const Kind& kind : kKinds) {
    if (kind.anthropic_type == type || kind.openai_type == type) return kind.status;
  }
  return 500;
}

SpokenError::SpokenError(const Error& error)
    : openai_type(error_info(error.code).openai_type),
      anthropic_type(error_info(error.code).anthropic_type),
      code(error.name()),
      param(error.code == ErrorCode::kUnsupportedField ? error.detail : std::string()),
      message(error.message) {}

SpokenError::SpokenError(Family family, int status, const ErrorWords& words)
    : message(words.message.empty() ? words.type : words.message) {
  const Kind& kind = kind_of(status != 0 ? status : status_of_error_type(words.type));
  openai_type = kind.openai_type;
  anthropic_type = kind.anthropic_type;
  code = kind.code;
  const bool too_long = is_too_long(words);
  switch (family) {
    case Family::kOpenai:
      if (!words.type.empty()) openai_type = words.type;
      code = words.code;
      if (!too_long) break;
      anthropic_type = "invalid_request_error";
      if (const auto numbers = two_numbers(message)) {
        message = concat("prompt is too long: ", numbers->tokens, " tokens > ", numbers->limit,
                         " maximum. ", message);
      } else {
        message = concat("prompt is too long. ", message);
      }
      break;
    case Family::kAnthropic:
      if (!words.type.empty()) anthropic_type = words.type;
      if (too_long) code = kTooLong;
      break;
  }
}

}  // namespace hw::wire
