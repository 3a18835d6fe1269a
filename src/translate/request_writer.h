// Writers of requests: a Request becomes a body for an upstream of one of the three dialects.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "json/writer.h"
#include "translate/fidelity.h"
#include "translate/request.h"

namespace hw::translate {

// What the channel adds to a request.
struct Target {
  std::string_view model;  // the name to send
  // Ask a chat stream for its usage (channel option inject_usage), unless the client said false.
  bool ask_for_usage = true;
  // messages needs max_tokens: this where the client gave none.
  int64_t max_tokens_default = 8192;
  // Fields that this channel takes beyond its dialect's, by their name there ("top_k").
  std::span<const std::string> extra_fields;
};

// Appends the body. What the dialect cannot say is met by the rules of fidelity.h; where one
// refuses, fidelity.status() is the error and `out` is of no use. The order of object members in
// schemas and arguments stays as it came.
void write_request(Dialect dialect, const Request& request, const Target& target,
                   Fidelity& fidelity, std::string& out);

// Meets the fields for which the model has no place: writes those that the channel takes as members
// of the open object, and has the others marked or refused by their rule.
void write_other_fields(const Request& request, const Target& target, Fidelity& fidelity,
                        json::Writer& writer);

// The same, each in its file.
void write_chat_request(const Request& request, const Target& target, Fidelity& fidelity,
                        std::string& out);
void write_responses_request(const Request& request, const Target& target, Fidelity& fidelity,
                             std::string& out);
void write_messages_request(const Request& request, const Target& target, Fidelity& fidelity,
                            std::string& out);

}  // namespace hw::translate
