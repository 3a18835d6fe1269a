#include "wire/stream_observer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/text.h"
#include "wire/upstream_error.h"

namespace hw::wire {
namespace {

// The end that chat and completions write where JSON would be.
constexpr std::string_view kDone = "[DONE]";
// The type of an event that is an error in any dialect.
constexpr std::string_view kErrorType = "error";

bool ends_with_done(Dialect dialect) {
  return dialect == Dialect::kOpenaiChat || dialect == Dialect::kOpenaiCompletions;
}

// Hands an event with JSON in it to its dialect's reader.
void read_event(Dialect dialect, std::string_view type, json::Document& document,
                StreamState& state, EventReading& reading) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
      return read_chat_event(document, state, reading);
    case Dialect::kOpenaiCompletions:
      return read_completions_event(document, state, reading);
    case Dialect::kOpenaiResponses:
      return read_responses_event(type, document, state, reading);
    case Dialect::kAnthropicMessages:
      return read_messages_event(type, document, state, reading);
    case Dialect::kOpenaiEmbeddings:
      return;  // never streamed: what comes are frames
  }
}

// An event that is called an error is one, whatever its data are.
void read_named_error(const http::SseEvent& event, StreamState& state, EventReading& reading) {
  if (event.type != kErrorType || reading.error) return;
  reading.error = true;
  json::Document document(ErrorCode::kUpstreamDialect);
  if (document.open(event.data)) read_error(document.root(), state.error_words);
  if (state.error_words.message.empty()) state.error_words.message = excerpt(event.data);
}

}  // namespace

StreamObserver::StreamObserver(Dialect dialect) : dialect_(dialect) {}

Result<std::span<const EventFacts>> StreamObserver::feed(std::string_view bytes) {
  thread_local std::vector<EventFacts> facts;
  facts.clear();
  std::string_view rest = bytes;
  http::SseEvent event;
  for (;;) {
    const Result<bool> found = scanner_.next(rest, event);
    if (!found) return fail(found.error());
    if (!*found) break;
    EventFacts& fact = facts.emplace_back(observe(event));
    fact.end = bytes.size() - rest.size();
  }
  return std::span<const EventFacts>(facts);
}

EventFacts StreamObserver::observe(const http::SseEvent& event) {
  EventFacts fact;
  ++state_.events;
  if (const size_t text_bytes = pattern_.match(event)) {
    count_token(fact, pattern_.channel(), text_bytes);
    return fact;
  }
  const EventReading reading = read(event);
  fact.usage_only = reading.usage_only;
  fact.terminal = reading.terminal;
  fact.error = reading.error;
  state_.terminal |= reading.terminal;
  state_.error |= reading.error;
  if (reading.text.total() > 0) {
    count_token(fact, reading.text.most_visible(), reading.text.total());
  }
  return fact;
}

EventReading StreamObserver::read(const http::SseEvent& event) {
  EventReading reading;
  if (ends_with_done(dialect_) && trim(event.data) == kDone) {
    reading.terminal = true;
    return reading;
  }
  json::Document document(ErrorCode::kUpstreamDialect);
  if (document.open(event.data)) {
    read_event(dialect_, event.type, document, state_, reading);
    const std::string_view piece = reading.text.only_piece();
    if (reading.only_text && event.type != kErrorType && !piece.empty()) {
      pattern_.learn(event, piece, reading.text.most_visible());
    }
  }
  read_named_error(event, state_, reading);
  return reading;
}

void StreamObserver::count_token(EventFacts& fact, TokenChannel channel, uint64_t text_bytes) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  fact.token = true;
  fact.channel = channel;
  fact.text_bytes = static_cast<uint32_t>(std::min(text_bytes, kMost));
  ++state_.token_events;
  state_.output_bytes += text_bytes;
}

bool StreamObserver::finished() const {
  if (state_.terminal) return true;
  return ends_with_done(dialect_) && state_.choices_finished != 0 &&
         (state_.choices_seen & ~state_.choices_finished) == 0;
}

bool StreamObserver::at_boundary() const {
  return scanner_.at_boundary();
}

}  // namespace hw::wire
