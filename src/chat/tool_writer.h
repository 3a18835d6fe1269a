// Writes what a request to chat says of tools: which there are, and which are to be called.
#pragma once

#include "json/writer.h"
#include "neutral/fidelity.h"
#include "neutral/request.h"

namespace hw::translate {

// Writes `tools`, `tool_choice` and `parallel_tool_calls` into the open object; nothing where there
// is no tool that chat can declare.
void write_chat_tools(const Request& request, Fidelity& fidelity, json::Writer& writer);

}  // namespace hw::translate
