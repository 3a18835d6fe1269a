// StreamState: what is known of a stream so far. Owned and shown by StreamObserver; the readers of
// the dialects write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/sse.h"
#include "json/scan.h"
#include "wire/engine_times.h"
#include "wire/generated_text.h"
#include "wire/upstream_error.h"
#include "wire/usage.h"

namespace hw::wire {

// Longest id that is kept.
inline constexpr size_t kIdBytesMax = 128;

// The whole stream so far; the meaning of each member is told by StreamObserver's getters.
struct StreamState {
  bool terminal = false;
  bool error = false;
  int64_t sequence_number = -1;
  bool output_begun = false;
  uint64_t events = 0, token_events = 0, output_bytes = 0;
  // One bit for each choice that was seen or has finished; choices from the 64th on share a bit.
  uint64_t choices_seen = 0, choices_finished = 0;
  Usage usage;
  EngineTimes engine;
  std::string finish_reason, id;
  ErrorWords error_words;
  std::string response_object;
};

// What one event says, while it is read.
struct EventReading {
  TextCount text;
  // Beside its text the event changes nothing that an earlier one like it has not changed. Readers
  // take this back where they find anything else.
  bool only_text = true;
  bool usage_only = false;
  bool terminal = false;
  bool error = false;
};

// The dialects' readers. `event.data` is the JSON that `document` has open; a reader takes from it
// what it knows and leaves the rest.
void read_chat_event(json::Document& document, StreamState& state, EventReading& reading);
void read_completions_event(json::Document& document, StreamState& state, EventReading& reading);
void read_responses_event(std::string_view type, json::Document& document, StreamState& state,
                          EventReading& reading);
void read_messages_event(std::string_view type, json::Document& document, StreamState& state,
                         EventReading& reading);

}  // namespace hw::wire
