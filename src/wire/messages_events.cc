// Reads the events of Anthropic's messages.
#include <string_view>

#include "wire/generated_text.h"
#include "wire/stream_state.h"

namespace hw::wire {
namespace {

// Token-bearing deltas; signatures and citations are metadata.
void read_delta(json::Object delta, StreamState& state, EventReading& reading) {
  delta.each([&](std::string_view key, const json::Value& value) {
    if (key == "text") {
      reading.text.add(TokenChannel::kContent, value.text_or(""));
    } else if (key == "thinking") {
      reading.text.add(TokenChannel::kReasoning, value.text_or(""));
    } else if (key == "partial_json") {
      reading.text.add(TokenChannel::kTool, value.text_or(""));
    } else if (key == "stop_reason" && value.has_text()) {
      keep(state.finish_reason, value.text_or(""), kWordBytesMax);
      reading.only_text = false;
    }
  });
}

// The message that message_start opens: an id and the usage of its input.
void read_message(json::Object message, StreamState& state) {
  message.each([&](std::string_view key, const json::Value& value) {
    if (key == "id") {
      keep(state.id, value.text_or(""), kIdBytesMax);
    } else if (key == "usage") {
      read_usage(Dialect::kAnthropicMessages, value.object(), state.usage);
    } else {
      read_engine_member(key, value, state.engine);
    }
  });
}

}  // namespace

void read_messages_event(std::string_view type, json::Document& document, StreamState& state,
                         EventReading& reading) {
  json::Value message, delta, usage, error;
  document.root().each([&](std::string_view key, const json::Value& value) {
    if (key == "type") {
      type = value.text_or(type);
    } else if (key == "message") {
      message = value;
    } else if (key == "delta") {
      delta = value;
    } else if (key == "usage") {
      usage = value;
    } else if (key == "error") {
      error = value;
    } else if (read_engine_member(key, value, state.engine)) {
      reading.only_text = false;
    }
  });
  if (type == "content_block_delta") return read_delta(delta.object(), state, reading);
  reading.only_text = false;
  if (type == "message_start") {
    read_message(message.object(), state);
  } else if (type == "message_delta") {
    read_delta(delta.object(), state, reading);
    read_usage(Dialect::kAnthropicMessages, usage.object(), state.usage);
  } else if (type == "message_stop") {
    reading.terminal = true;
  } else if (type == "error") {
    reading.error = true;
    read_error(error, state.error_words);
  }
}

}  // namespace hw::wire
