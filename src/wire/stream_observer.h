// StreamObserver: reads along with a stream of server-sent events and says what each event means:
// the product's one definition of a first token, of a finished stream, and of usage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "http/sse.h"
#include "wire/engine_times.h"
#include "wire/generated_text.h"
#include "wire/repeat_pattern.h"
#include "wire/stream_state.h"
#include "wire/usage.h"

namespace hw::wire {

// One event that was completed by the bytes of a feed().
struct EventFacts {
  size_t end = 0;           // offset in those bytes just past the event's blank line
  uint32_t text_bytes = 0;  // UTF-8 bytes of generated text, all channels; 0 where it is no token
  TokenChannel channel = TokenChannel::kContent;
  bool token = false;       // carries generated text
  bool usage_only = false;  // chat, completions: `choices` is empty and there is usage
  bool terminal = false;    // the dialect's final event ([DONE], message_stop, response.completed)
  bool error = false;       // the upstream reports a failure in the stream
  friend bool operator==(const EventFacts&, const EventFacts&) = default;
};

// Observes one answer. Not thread-safe; a few hundred bytes while no event is partly received.
//
//   StreamObserver observer(dialect);
//   for each read: auto events = observer.feed(bytes);   // then stamp and relay
//   at the end:    if (!observer.finished() && !observer.error_seen()) append_error_event(...)
//
// Text, usage and names come from outside: every kept piece is bounded, and an event that is no
// JSON, or JSON of another shape, is a frame without facts, never an error.
class StreamObserver {
 public:
  explicit StreamObserver(Dialect dialect);

  // Takes the next bytes of the body, split anywhere. Gives the events that they complete, in
  // order; the span is valid until the next feed() of any observer on this thread.
  // kUpstreamProtocol where an event exceeds the scanner's limit; the observer then stays as it was
  // and takes no more.
  Result<std::span<const EventFacts>> feed(std::string_view bytes);

  // As constructed.
  Dialect dialect() const { return dialect_; }
  // The answer is complete by the dialect's rule. chat, completions: [DONE], or a finish_reason for
  // each choice that was seen; responses: response.completed, .incomplete or .failed; messages:
  // message_stop.
  bool finished() const;
  // The final event itself was seen; for chat and completions that is [DONE].
  bool terminal_seen() const { return state_.terminal; }
  // The upstream reported a failure in the stream. It may be finished as well (response.failed, or
  // a chat chunk with an error and a finish_reason); the failure is what the call's outcome is.
  bool error_seen() const { return state_.error; }
  // What it said.
  const ErrorWords& error_words() const { return state_.error_words; }

  // No event is partly received: something may be put into the stream here.
  bool at_boundary() const;

  // Events of any kind so far.
  uint64_t events() const { return state_.events; }
  // Those of them that carried generated text.
  uint64_t token_events() const { return state_.token_events; }
  // UTF-8 bytes of generated text so far, for an estimate where no usage comes.
  uint64_t output_bytes() const { return state_.output_bytes; }
  // As reported so far; the last report of a field wins.
  const Usage& usage() const { return state_.usage; }
  const EngineTimes& engine() const { return state_.engine; }
  // The dialect's own word: "stop", "end_turn", "completed", "max_output_tokens"; of the first
  // choice that finished. Empty: none yet. At most 64 bytes.
  const std::string& finish_reason() const { return state_.finish_reason; }
  // The answer's id as the upstream made it. Empty: none yet. At most 128 bytes.
  const std::string& id() const { return state_.id; }

  // Responses only: the highest sequence_number seen, -1 before the first.
  int64_t sequence_number() const { return state_.sequence_number; }
  // Responses only: an item of the output was announced, so that response_object() is no longer all
  // that the client has.
  bool output_begun() const { return state_.output_begun; }
  // Responses only: the `response` object of response.created, for heartbeats and error events.
  // Kept whole up to 2 KiB; above that long members are emptied (tools and instructions, mostly).
  // Empty before response.created.
  const std::string& response_object() const { return state_.response_object; }

 private:
  EventFacts observe(const http::SseEvent& event);
  EventReading read(const http::SseEvent& event);
  void count_token(EventFacts& fact, TokenChannel channel, uint64_t text_bytes);

  Dialect dialect_;
  StreamState state_;
  RepeatPattern pattern_;
  http::SseScanner scanner_;
};

}  // namespace hw::wire
