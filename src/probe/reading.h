// Reading: what the body of one answer is, and what it says. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"
#include "wire/upstream_error.h"
#include "wire/usage.h"

namespace hw::probe {

// What a body looks like.
enum class BodyKind : uint8_t {
  kEmpty,
  kHtml,
  kText,        // something else that is no JSON
  kJsonBroken,  // begins as JSON and is none, or is cut short
  kJson,        // one JSON object
  kJsonOther,   // another JSON value: a list, a string
  kEvents,      // server-sent events
};

// The member that makes a body an answer: choices, output, content.
enum class AnswerMember : uint8_t { kMissing, kNull, kEmpty, kOther, kFilled };

// One body, read.
struct Reading {
  BodyKind kind = BodyKind::kEmpty;
  wire::ErrorShape error_shape = wire::ErrorShape::kNone;
  wire::ErrorWords error;     // of an error body, whatever the status
  bool error_member = false;  // an `error` object in it, or type "error"
  AnswerMember member = AnswerMember::kMissing;
  uint64_t output_bytes = 0;  // of generated text, all channels
  std::string finish_reason;
  wire::Usage usage;
  std::string model;    // who answered, as the answer says
  std::string title;    // of an HTML page
  std::string excerpt;  // printable beginning

  // A complete answer of the dialect.
  bool answers() const {
    return kind == BodyKind::kJson && member == AnswerMember::kFilled && !error_member;
  }
};

// Reads `body`, the answer to a request of `dialect`.
Reading read_body(Dialect dialect, std::string_view body);

// Whether the words of an error are about the model that was asked for: its name in them, or
// "model" together with "not found", "does not exist", "unknown" and the like.
bool is_about_model(const wire::ErrorWords& words, std::string_view model);
// Whether they complain of the field `max_tokens` (newer OpenAI models want another name).
bool is_about_max_tokens(const wire::ErrorWords& words);

// The ids in the answer to GET /v1/models, at most `count_max`; empty where it is none.
std::vector<std::string> read_model_list(std::string_view body, size_t count_max);

}  // namespace hw::probe
