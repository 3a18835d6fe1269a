// The completion that an answer in chat is: what its chunks and its whole form write alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "chat/dialect.h"
#include "neutral/event.h"

namespace hw::translate {

// Counts what an answer says about tokens, and estimates them where it says nothing.
class ChatUsage {
 public:
  explicit ChatUsage(const Reply& reply) : reply_(reply) {}

  // What the upstream told.
  void take(const wire::Usage& usage);
  // Bytes of generated text, for an estimate.
  void count(size_t bytes) { output_bytes_ += bytes; }
  // Appends the object. Parts of the input and of the output lie inside them here.
  void append(std::string& out) const;

 private:
  const Reply& reply_;
  wire::Usage usage_;
  uint64_t output_bytes_ = 0;
};

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
