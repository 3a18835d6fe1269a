// Reads the tools of a request of responses, and which of them the model may call.
#pragma once

#include "base/result.h"
#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// Appends the tools of `tools`, a list; those of a namespace one by one, each with its name, and
// the namespace's description in front of the first one's. kBadRequest where a tool has no name.
Status read_responses_tools(const json::Value& tools, Request& out);

// Reads tool_choice: a word, a tool's name or a list of those that are allowed. A choice of what
// only the provider runs is kept as another field.
Status read_responses_tool_choice(const json::Value& value, Request& out);

}  // namespace hw::translate
