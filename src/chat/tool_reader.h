// Reads what a request of chat says of tools: which there are, and which are to be called.
#pragma once

#include "base/result.h"
#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// `tools`: functions, custom tools, and such as only the server knows.
Status read_chat_tools(const json::Value& tools, Request& out);
// `functions`, their form of 2023.
Status read_chat_functions(const json::Value& functions, Request& out);
// `tool_choice` and, likewise, `function_call`.
Status read_chat_tool_choice(const json::Value& choice, Request& out);

}  // namespace hw::translate
