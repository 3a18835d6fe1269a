// StreamRelay: passes a stream of events from an attempt to the client, unchanged or translated,
// one write for each read, and stamps frames and tokens beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "edge/event_gate.h"
#include "gateway/relay.h"
#include "http/coding.h"
#include "wire/stream_observer.h"

namespace hw::gateway {

class StreamRelay final : public Relay,
                          private Pump,
                          private edge::Stream,
                          public Recycled<StreamRelay> {
 public:
  StreamRelay(ExchangeState& state, Attempt& attempt);

  // Relays to the end. kFailed where the stream broke before its first byte was relayed; afterwards
  // a break is told to the client in its dialect and the answer is kServed.
  net::Task<Ending> run() override;

 private:
  // What one read made of the stream.
  enum class Progress : uint8_t {
    kMore,
    kComplete,  // the answer's framing has ended
    kBroken,    // see broken_
  };

  // What is left to do after a read.
  enum class Left : uint8_t {
    kNothing,  // but to wait for more
    kRest,     // the client has not taken everything
    kEnding,   // see received_ and progress_
  };

  Left begin();
  void hold_head();
  bool pump() override;
  bool at_boundary() const override { return translator_ != nullptr || gate_.at_boundary(); }
  void append_heartbeat(std::string& out) override;
  std::string& compose();
  void append_end(std::string& out);
  Left after_wait(const Wake& wake);
  Left take_read();
  Left pass_on();
  Left passed_on();
  net::Task<Ending> end();
  Progress take(std::string_view bytes, Nanos now);
  Status take_body(std::string_view piece, Nanos now);
  Status translate(std::string_view piece);
  void observe(const wire::EventFacts& event, Nanos now);
  void observe_token(const wire::EventFacts& event, Nanos now);
  bool try_write_out();
  net::Task<bool> write_rest();
  net::Task<Ending> end_well();
  net::Task<Ending> end_broken(Error error, Outcome outcome);
  Ending end_gone();
  Error unfinished() const;
  void keep_facts();

  ExchangeState& state_;
  Attempt& attempt_;
  wire::StreamObserver observer_;
  edge::EventGate gate_;
  std::unique_ptr<translate::StreamTranslator> translator_;  // null: the dialects are the same
  std::optional<http::Decoder> decoder_;
  std::unique_ptr<Error> broken_;  // seldom there
  PairSeries& series_;
  Received received_;           // by the last read
  std::optional<Left> pumped_;  // what the pump left to the coroutine
  Progress progress_ = Progress::kMore;
  Nanos blocked_at_last_token_ = 0;
  bool composed_ = false;  // the loop's buffer has bytes of this stream to write
};

}  // namespace hw::gateway
