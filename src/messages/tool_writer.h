// The tools of a request, and which of them are to be called, as messages wants them.
#pragma once

#include "json/writer.h"
#include "neutral/fidelity.h"
#include "neutral/request.h"

namespace hw::translate {

// Writes `tools` and `tool_choice` as members of the open object; neither where no tool can be
// said. True where the choice makes the model call a tool, with which it may not think.
bool write_messages_tools(const Request& request, Fidelity& fidelity, json::Writer& writer);

}  // namespace hw::translate
