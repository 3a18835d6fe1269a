// Reads the chunks of chat completions and of completions.
#include <algorithm>
#include <string_view>

#include "wire/generated_text.h"
#include "wire/stream_state.h"

namespace hw::wire {
namespace {

// Which bit stands for a choice. A missing index is the first one's.
uint64_t choice_bit(const json::Value& index) {
  constexpr int64_t kLast = 63;
  return uint64_t{1} << std::clamp<int64_t>(index.integer().value_or(0), 0, kLast);
}

// One choice of a chunk: its text is in `delta` (chat) or `text` (completions).
void read_choice(json::Object choice, StreamState& state, EventReading& reading) {
  uint64_t bit = 1;
  bool finished = false;
  choice.each([&](std::string_view key, const json::Value& value) {
    if (key == "index") {
      bit = choice_bit(value);
    } else if (key == "delta") {
      count_chat_message(value.object(), reading.text);
    } else if (key == "text") {
      reading.text.add(TokenChannel::kContent, value.text_or(""));
    } else if (key == "finish_reason") {
      finished = value.has_text();
      if (finished && state.finish_reason.empty()) {
        keep(state.finish_reason, value.text_or(""), kWordBytesMax);
      }
    } else if (read_engine_member(key, value, state.engine)) {
      reading.only_text = false;
    }
  });
  state.choices_seen |= bit;
  if (finished) {
    state.choices_finished |= bit;
    reading.only_text = false;
  }
}

// Both dialects' chunks differ in their choices only.
void read_chunk(Dialect dialect, json::Document& document, StreamState& state,
                EventReading& reading) {
  size_t choices = 0;
  bool usage = false, flat_error = false;
  document.root().each([&](std::string_view key, const json::Value& value) {
    if (key == "choices") {
      value.array().each([&](const json::Value& choice) {
        ++choices;
        read_choice(choice.object(), state, reading);
      });
    } else if (key == "usage") {
      usage = value.kind() == json::Kind::kObject;
      if (usage) read_usage(dialect, value.object(), state.usage);
    } else if (key == "error") {
      if (value.is_null()) return;
      reading.error = true;
      read_error(value, state.error_words);
    } else if (key == "object") {
      flat_error = value.text_or("") == "error";  // vLLM before 0.11: type, code, message beside it
    } else if (key == "id") {
      if (state.id.empty()) keep(state.id, value.text_or(""), kIdBytesMax);
    } else if (read_engine_member(key, value, state.engine)) {
      reading.only_text = false;
    }
  });
  if (flat_error && !reading.error) {
    reading.error = true;
    read_error(document.root(), state.error_words);
  }
  if (usage || reading.error) reading.only_text = false;
  reading.usage_only = usage && choices == 0 && !reading.error;
}

}  // namespace

void read_chat_event(json::Document& document, StreamState& state, EventReading& reading) {
  read_chunk(Dialect::kOpenaiChat, document, state, reading);
}

void read_completions_event(json::Document& document, StreamState& state, EventReading& reading) {
  read_chunk(Dialect::kOpenaiCompletions, document, state, reading);
}

}  // namespace hw::wire
