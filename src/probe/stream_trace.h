// StreamTrace: reads along with the body of one answer and notes what each read brought: events,
// tokens, data that is no JSON. Sans-I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/coding.h"
#include "http/sse.h"
#include "probe/record.h"
#include "wire/stream_observer.h"

namespace hw::probe {

class StreamTrace {
 public:
  // Writes into `exchange`, which outlives this and has its head already.
  explicit StreamTrace(Exchange& exchange);

  // Takes the body bytes of one read at `at`. False when the answer is too large.
  bool take(std::string_view bytes, Nanos at);
  // The body has ended, well or not: fills in what is known only then.
  void finish();

  // The stream has had its final event.
  bool terminal_seen() const { return observer_.terminal_seen(); }

 private:
  void decide(std::string_view bytes);
  void take_events(std::string_view bytes, Nanos at, BodyRead& read);
  void check_data(std::string_view bytes);

  Exchange& exchange_;
  std::optional<http::Decoder> decoder_;
  std::string decoded_;
  bool begun_ = false;
  wire::StreamObserver observer_;
  http::SseScanner scanner_;
};

}  // namespace hw::probe
