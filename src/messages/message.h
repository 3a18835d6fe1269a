// The message that an answer in messages is: what its streamed and its whole form write alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/dialect.h"
#include "neutral/event.h"

namespace hw::translate {

// Counts what an answer says about tokens, and estimates them where it says nothing.
class MessagesUsage {
 public:
  explicit MessagesUsage(const Reply& reply) : reply_(reply) {}

  // What the upstream told.
  void take(const wire::Usage& usage);
  // Bytes of generated text, for an estimate.
  void count(size_t bytes) { output_bytes_ += bytes; }
  // Appends the object. Parts of the input stand beside each other here.
  void append(std::string& out) const;

 private:
  void append_numbers(std::string& out, int64_t input, int64_t output) const;

  const Reply& reply_;
  wire::Usage usage_;
  uint64_t output_bytes_ = 0;
};

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
