// ChatReasoning: how the proofs of a model's thinking travel with a client of chat, whose dialect
// has no place for them: as tickets, one for each piece of thinking, that tell how much of
// `reasoning_content` the piece is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// A ticket is `ENVELOPE~BYTES`: letters, digits and `._-~`. Tickets stand in
//   reasoning_details: [{"type": "reasoning.encrypted", "data": TICKET, "index": 0}]
// and once more, several with blanks between, where clients of Google's models keep their proofs:
//   tool_calls[].extra_content.google.thought_signature
// Appends one. `text_bytes` is the length of the piece's text itself, UTF-8.
void append_ticket(std::string& out, std::string_view envelope, uint64_t text_bytes);

// What an assistant's message of chat says of its thinking.
struct ChatReasoning {
  Text text;                             // reasoning_content or reasoning
  json::Value details;                   // reasoning_details
  json::Value thinking_blocks;           // LiteLLM's: Anthropic's blocks as they are
  std::vector<Text> thought_signatures;  // of its calls
};

// Appends a reasoning part for each piece of thinking, with its signature where the client kept
// both the text and the ticket.
void append_chat_reasoning(const ChatReasoning& reasoning, Request& out, std::vector<Part>& parts);

}  // namespace hw::translate
