// The message that an answer in messages is: what its streamed and its whole form write alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/dialect.h"
#include "neutral/event.h"
#include "wire/usage.h"

namespace hw::translate {

// Appends the object that tells the usage. Parts of the input stand beside each other here.
void append_message_usage(std::string& out, const wire::Usage& usage);

// Appends `"id":...,"type":"message","role":"assistant","model":...`.
void append_message_head(std::string& out, const Reply& reply);

// Appends `"stop_reason":...,"stop_sequence":...`. `calls`: the message calls tools, which is the
// reason wherever no other is told.
void append_stop(std::string& out, const Finished& finished, bool calls);

// Appends `"id":...,"name":...` of a call: as the client knows both.
void append_call_head(std::string& out, const BlockBegun& call, const Reply& reply);

// Appends an annotation of OpenAI's as a citation; false where it names no URL.
bool append_citation(std::string& out, Raw annotation);

// Appends arguments as the object that they must be: {} where there are none, and {"input": "..."}
// around free text and around what is no JSON.
void append_tool_input(std::string& out, ToolKind kind, const Text& arguments);

}  // namespace hw::translate
