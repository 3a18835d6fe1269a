// Target: what the channel adds to a request, whatever its dialect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "json/writer.h"
#include "neutral/fidelity.h"
#include "neutral/request.h"

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

// Meets the fields for which the model has no place: writes those that the channel takes as members
// of the open object, and has the others marked or refused by their rule.
void write_other_fields(const Request& request, const Target& target, Fidelity& fidelity,
                        json::Writer& writer);

}  // namespace hw::translate
