// Counts the generated text in messages, deltas and output items, by channel.
#pragma once

#include "json/scan.h"
#include "wire/token_channel.h"

namespace hw::wire {

// A chat message or its delta: content, reasoning (of which servers send the same piece under up to
// three names; counted once), refusal, tool calls, the transcript of audio.
void count_chat_message(json::Object message, TextCount& count);

// The output items of a response: message parts, reasoning texts and summaries, tool arguments.
void count_responses_output(json::Array output, TextCount& count);

// The content blocks of an Anthropic message: text, thinking, tool inputs as JSON.
void count_messages_content(json::Array blocks, TextCount& count);

// Unescaped bytes of a string; 0 for anything else.
inline size_t text_size(const json::Value& value) {
  return value.text_or("").size();
}

}  // namespace hw::wire
