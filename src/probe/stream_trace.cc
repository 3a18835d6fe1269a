#include "probe/stream_trace.h"

#include <algorithm>

#include "base/text.h"
#include "json/check.h"

namespace hw::probe {
namespace {

// A check asks for some dozen tokens: no answer is near this.
constexpr size_t kDecodedBytesMax = 16u << 20;

}  // namespace

StreamTrace::StreamTrace(Exchange& exchange) : exchange_(exchange), observer_(exchange.dialect) {
  exchange_.coding = std::string(exchange.header("content-encoding"));
  if (exchange_.coding.empty() || equal_ignoring_case(exchange_.coding, "identity")) {
    exchange_.coding.clear();
    return;
  }
  Result<http::Decoder> decoder =
      http::Decoder::make(exchange_.coding, ErrorCode::kUpstreamProtocol);
  exchange_.decoded = decoder.has_value();
  if (decoder.has_value()) decoder_ = std::move(*decoder);
}

bool StreamTrace::take(std::string_view bytes, Nanos at) {
  if (bytes.empty()) return true;
  if (exchange_.times.first_byte < 0) exchange_.times.first_byte = at;
  exchange_.body_bytes += bytes.size();
  if (exchange_.body_bytes > kDecodedBytesMax) return false;
  BodyRead read;
  read.at = at;
  read.bytes = bytes.size();
  decoded_.clear();
  if (decoder_.has_value() && exchange_.decoded) {
    exchange_.decoded = decoder_->decode(bytes, decoded_, kDecodedBytesMax).has_value();
    bytes = decoded_;
  }
  if (!bytes.empty()) {
    if (!begun_) decide(bytes);
    const size_t room = kBodyBytesKept - std::min(kBodyBytesKept, exchange_.body.size());
    exchange_.body.append(bytes.substr(0, room));
    if (exchange_.is_stream) take_events(bytes, at, read);
  }
  if (exchange_.reads.size() < kReadsKept) exchange_.reads.push_back(read);
  return true;
}

// A stream is what says so, or what was asked for as one and looks like one.
void StreamTrace::decide(std::string_view bytes) {
  begun_ = true;
  const std::string_view type = exchange_.header("content-type");
  const bool labelled = equal_ignoring_case(type.substr(0, 17), "text/event-stream");
  const bool looks = read_body(exchange_.dialect, bytes).kind == BodyKind::kEvents;
  exchange_.is_stream = exchange_.status / 100 == 2 && (looks || (labelled && bytes[0] != '{'));
}

void StreamTrace::take_events(std::string_view bytes, Nanos at, BodyRead& read) {
  check_data(bytes);
  ExchangeTimes& times = exchange_.times;
  const auto events = observer_.feed(bytes);
  if (!events.has_value()) return;
  for (const wire::EventFacts& event : *events) {
    ++read.events;
    if (times.first_event < 0) times.first_event = at;
    if (event.token) {
      ++read.token_events;
      if (times.first_token < 0) times.first_token = at;
      times.last_token = at;
    }
    if (event.terminal && times.terminal < 0) times.terminal = at;
  }
}

void StreamTrace::check_data(std::string_view bytes) {
  http::SseEvent event;
  for (;;) {
    const Result<bool> found = scanner_.next(bytes, event);
    if (!found.has_value() || !*found) return;
    if (event.data.empty() || trim(event.data) == "[DONE]") continue;
    if (json::is_json_object(event.data)) continue;
    if (exchange_.stream.broken_events++ == 0) {
      exchange_.stream.broken_event = wire::excerpt(event.data);
    }
  }
}

void StreamTrace::finish() {
  if (!exchange_.is_stream) {
    exchange_.reading = read_body(exchange_.dialect, exchange_.decoded ? exchange_.body : "");
    return;
  }
  StreamSeen& seen = exchange_.stream;
  seen.events = observer_.events();
  seen.token_events = observer_.token_events();
  seen.output_bytes = observer_.output_bytes();
  seen.finished = observer_.finished();
  seen.error = observer_.error_seen();
  seen.error_words = observer_.error_words();
  seen.finish_reason = observer_.finish_reason();
  seen.usage = observer_.usage();
  seen.pending_bytes = scanner_.pending().size();
}

}  // namespace hw::probe
