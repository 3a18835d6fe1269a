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
#include "wire/usage.h"

namespace hw::wire {

// What kind of text a token event carries. An event with several kinds at once has the most visible
// one: content, then refusal, tool, reasoning.
enum class TokenChannel : uint8_t { kContent, kReasoning, kTool, kRefusal };
inline constexpr int kTokenChannelCount = 4;
// "content", "reasoning", "tool", "refusal".
std::string_view token_channel_name(TokenChannel channel);

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

  Dialect dialect() const { return dialect_; }
  // The answer is complete by the dialect's rule. chat, completions: [DONE], or a finish_reason for
  // each choice that was seen; responses: response.completed, .incomplete or .failed; messages:
  // message_stop.
  bool finished() const;
  // The final event itself was seen; for chat and completions that is [DONE].
  bool terminal_seen() const { return terminal_; }
  // The upstream reported a failure in the stream.
  bool error_seen() const { return error_; }
  // What it said; empty where it said nothing. At most 64, 64 and 1024 bytes.
  const std::string& error_type() const { return error_type_; }
  const std::string& error_code() const { return error_code_; }
  const std::string& error_message() const { return error_message_; }

  // No event is partly received: something may be put into the stream here.
  bool at_boundary() const;

  uint64_t events() const { return events_; }
  uint64_t token_events() const { return token_events_; }
  // UTF-8 bytes of generated text so far, for an estimate where no usage comes.
  uint64_t output_bytes() const { return output_bytes_; }
  // As reported so far; the last report of a field wins.
  Usage usage() const;
  const EngineTimes& engine() const { return engine_; }
  // The dialect's own word: "stop", "end_turn", "completed", "max_output_tokens"; of the first
  // choice that finished. Empty: none yet. At most 64 bytes.
  const std::string& finish_reason() const { return finish_reason_; }
  // The answer's id as the upstream made it. Empty: none yet. At most 128 bytes.
  const std::string& id() const { return id_; }

  // Responses only: the highest sequence_number seen, -1 before the first.
  int64_t sequence_number() const { return sequence_number_; }
  // Responses only: the `response` object of response.created, for heartbeats and error events.
  // Kept whole up to 2 KiB; above that long members are emptied (tools and instructions, mostly).
  // Empty before response.created.
  const std::string& response_object() const { return response_object_; }

 private:
  friend class EventReader;
  Dialect dialect_;
  bool terminal_ = false;
  bool error_ = false;
  bool done_ = false;
  int64_t sequence_number_ = -1;
  uint64_t events_ = 0, token_events_ = 0, output_bytes_ = 0;
  uint64_t choices_seen_ = 0, choices_finished_ = 0;
  Usage usage_;
  EngineTimes engine_;
  std::string finish_reason_, id_;
  std::string error_type_, error_code_, error_message_;
  std::string response_object_;
  http::SseScanner scanner_;
};

}  // namespace hw::wire
