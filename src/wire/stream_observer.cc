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
  if (event.type != "error" || reading.error) return;
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
  EventReading reading;
  ++state_.events;
  if (ends_with_done(dialect_) && trim(event.data) == kDone) {
    reading.terminal = true;
  } else {
    json::Document document(ErrorCode::kUpstreamDialect);
    if (document.open(event.data)) read_event(dialect_, event.type, document, state_, reading);
    read_named_error(event, state_, reading);
  }
  EventFacts fact;
  fact.usage_only = reading.usage_only;
  fact.terminal = reading.terminal;
  fact.error = reading.error;
  state_.terminal |= reading.terminal;
  state_.error |= reading.error;
  const uint64_t text_bytes = reading.text.total();
  if (text_bytes > 0) {
    fact.token = true;
    fact.channel = reading.text.most_visible();
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    fact.text_bytes = static_cast<uint32_t>(std::min(text_bytes, kMost));
    ++state_.token_events;
    state_.output_bytes += text_bytes;
  }
  return fact;
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
