// SpokenError: how a failure is said on the wire, in the words of either family of dialects: ours
// by the table of base/error.h, an upstream's in its own words or those that the other family has.
#pragma once

#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/error.h"
#include "wire/upstream_error.h"

namespace hw::wire {

struct SpokenError {
  std::string openai_type, anthropic_type;
  std::string code;   // OpenAI's; empty: null
  std::string param;  // OpenAI's: the field that is wrong; empty: null
  std::string message;

  // Ours.
  explicit SpokenError(const Error& error);
  // What an upstream of `family` answered with `status`; 0: inside a stream. Its type and code stay
  // for clients of its own family. For the others both follow from the status, else from the type;
  // and a prompt that is too long is said in the words by which clients know it (OpenAI: the code
  // context_length_exceeded; Anthropic: "prompt is too long: N tokens > M maximum").
  SpokenError(Family family, int status, const ErrorWords& words);
};

// How a failure of that kind is called where only the type is told: an upstream's `type` in an
// event. 500 for what is none of the known ones.
int status_of_error_type(std::string_view type);

}  // namespace hw::wire
