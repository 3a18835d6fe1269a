// StreamState: what is known of a stream so far. Owned and shown by StreamObserver; the readers of
// the dialects write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/sse.h"
#include "json/scan.h"
#include "wire/engine_times.h"
#include "wire/token_channel.h"
#include "wire/usage.h"

namespace hw::wire {

// Bounds of what is kept of an upstream's words.
inline constexpr size_t kWordBytesMax = 64;
inline constexpr size_t kIdBytesMax = 128;
inline constexpr size_t kErrorMessageBytesMax = 1024;

// The whole stream so far; the meaning of each member is told by StreamObserver's getters.
struct StreamState {
  bool terminal = false;
  bool error = false;
  int64_t sequence_number = -1;
  uint64_t events = 0, token_events = 0, output_bytes = 0;
  // One bit for each choice that was seen or has finished; choices from the 64th on share a bit.
  uint64_t choices_seen = 0, choices_finished = 0;
  Usage usage;
  EngineTimes engine;
  std::string finish_reason, id;
  std::string error_type, error_code, error_message;
  std::string response_object;
};

// What one event says, while it is read.
struct EventReading {
  TextCount text;
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

// Takes an error in: an object with type, code and message, or a plain string.
void read_error(const json::Value& value, StreamState& state);
// Sets `out` to `text`, cut at `bytes_max` on a character's edge.
void keep(std::string& out, std::string_view text, size_t bytes_max);

}  // namespace hw::wire
