// The completion that an answer in chat is: what its chunks and its whole form write alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "chat/dialect.h"
#include "neutral/event.h"
#include "wire/usage.h"

namespace hw::translate {

// Appends the object that tells the usage. Parts of the input and of the output lie inside them
// here.
void append_completion_usage(std::string& out, const wire::Usage& usage);

// Appends `"id":...,"object":...,"created":...,"model":...`.
void append_completion_head(std::string& out, std::string_view object, const Reply& reply);

// Appends `"finish_reason":...`, and what vLLM and SGLang tell beside it where a stop sequence is
// known. `calls`: the message calls tools, which is the reason wherever no other is told.
void append_finish(std::string& out, const Finished& finished, bool calls);

// How the client knows a call's tool: its name, and whether it takes free text.
struct CalledTool {
  std::string name;
  ToolKind kind = ToolKind::kFunction;
  // The upstream was told of a function, whose arguments hold the free text.
  bool wrapped = false;

  CalledTool(const BlockBegun& call, const ToolNames& tools);
};

// Appends `"id":...,"type":...,"function":{"name":...,"arguments":"` with `arguments` and all that
// closes; a custom tool's likewise. `arguments` is escaped.
void append_call(std::string& out, const BlockBegun& call, const CalledTool& tool,
                 std::string_view arguments);

// Appends a citation of another dialect as an annotation of chat's; false where it names no URL.
bool append_annotation(std::string& out, Raw citation);

// Appends an element of reasoning_details that holds a ticket (chat_reasoning.h).
void append_reasoning_detail(std::string& out, std::string_view ticket, size_t index);

// Appends the member of a call that holds tickets.
void append_extra_content(std::string& out, std::string_view tickets);

}  // namespace hw::translate
