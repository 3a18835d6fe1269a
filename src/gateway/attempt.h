// Attempt: one try of an exchange on one channel: a connection, the request, the answer's head,
// then bytes for a relay. An object with exactly one outcome: whatever path it takes, the
// connection, the place in the pool and the record are settled when it ends.
//
//   Attempt attempt(state, head, candidate, 1);
//   Started started = co_await attempt.start();
//   if (started == Started::kHead) a relay takes attempt.first() at once, then receive()s
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/recycled.h"
#include "gateway/exchange_state.h"
#include "http/response_reader.h"
#include "net/dial.h"
#include "wire/engine_times.h"
#include "wire/request_facts.h"
#include "wire/spoken_error.h"

namespace hw::gateway {

// How an attempt ended, for the exchange.
enum class Ending : uint8_t {
  kServed,  // the client has got an answer, complete or ended as broken
  kFailed,  // nothing was relayed: see failure(); another channel may be tried
  kGone,    // the client left
};

// What start() came to.
enum class Started : uint8_t { kHead, kFailed, kGone };

// An upstream's refusal as it would go to the client.
struct SavedAnswer {
  std::string head, body;
  int status = 0;
};

// Why an attempt failed before anything was relayed.
struct Failure {
  Error error;
  Outcome outcome = Outcome::kUpstreamError;
  bool elsewhere = true;                    // another channel may do better
  std::optional<SavedAnswer> answer;        // what to pass on when no other channel is left
  std::optional<wire::SpokenError> spoken;  // what the upstream said of it
};

// What receive() came to.
struct Received {
  enum class End : uint8_t {
    kBytes,
    kNothing,  // nothing was there (read_on() only)
    kClosed,   // the upstream ended the connection cleanly
    kBroken,   // or it broke
    kGone,     // the client left
    kClock,    // `clock` has passed
  };
  End end = End::kBytes;
  std::string_view bytes;  // in the loop's buffer: to be used before the next wait
  Nanos at = 0;            // straight after the read
  ClockName clock = ClockName::kTotal;
};

// 1 KiB and more, needed until the client's head is composed.
struct UpstreamHead final : http::ResponseHead, Recycled<UpstreamHead> {};

// A request without what its channel does not take.
struct Trimmed {
  std::string body;
  wire::RequestFacts facts;
};

// Takes what an upstream sends as soon as it can be read, beside the coroutine that waits for it: a
// token is passed on without waking one.
class Pump {
 public:
  // True: the bytes have been taken, and the wait goes on. False: the coroutine must go on.
  virtual bool pump() = 0;

 protected:
  ~Pump() = default;
};

class Attempt final : public Recycled<Attempt>, private net::SocketHandler {
 public:
  // Begins the record of attempt `number` (1, 2, ...) at `now`. `head` is the client's.
  Attempt(ExchangeState& state, const http::RequestHead& head, const route::Candidate& candidate,
          int number, Nanos now);
  ~Attempt();

  // Connects, sends the request and reads the answer's head.
  net::Task<Started> start();
  // After kFailed.
  std::unique_ptr<Failure> take_failure() { return std::move(failure_); }

  // The answer's head; until drop_head().
  const http::ResponseHead& head() const { return *response_; }
  void drop_head() { response_.reset(); }
  // Before a wait: the head's views would end with the loop's buffer.
  void keep_head() { reader_->keep_head(*response_); }
  // Bytes that came behind the head, in the loop's buffer.
  std::string_view first() const { return first_; }
  Nanos first_at() const { return first_at_; }
  http::ResponseReader& reader() { return *reader_; }
  // Reads what the upstream sends next, waiting for it.
  net::Task<Received> receive();
  // What receive() is made of, for those who are a coroutine already and need no other:
  //   Received received = attempt.read_on();
  //   while (received.end == Received::End::kNothing) {
  //     const Wake wake = co_await attempt.readable();
  //     received = attempt.read_on(wake);
  //   }
  // Reads on where the last read may have left something.
  Received read_on();
  // Waits for bytes of the upstream. Awaited before anything else is done.
  net::Task<Wake> readable();
  // Reads what `wake` tells of.
  Received read_on(const Wake& wake);
  // Who takes bytes while readable() is awaited; null: only the coroutine does.
  void set_pump(Pump* pump) { pump_ = pump; }
  // For a pump: reads at once, and asks to be called again.
  Received read_now();
  void want_more() { lease_.socket().want_read(); }

  // Bytes were left behind the answer: the connection is out of step and serves nobody any more.
  void spoil() { spoiled_ = true; }

  // What is tried, and the part of the call that tells of it.
  const route::Channel& channel() const { return channel_; }
  timeline::Attempt& record() { return state_.call.attempts[record_]; }
  // Notes the monotonic time `now` in the record; the first stamp of a kind counts.
  void stamp(timeline::AttemptStamp stamp, Nanos now) {
    record().stamps.set_once(stamp, state_.offset(now));
  }
  route::Endpoint endpoint() const { return endpoint_; }
  // The dialect in which the channel is asked and answers, and whether that is not the client's.
  Dialect dialect() const { return route::endpoint_dialect(endpoint_); }
  bool translated() const { return endpoint_ != state_.route.endpoint; }
  // Usage was asked for on the client's behalf: its chunk is to be hidden.
  bool usage_injected() const { return usage_injected_; }
  // Durations that the engine told in its head.
  const wire::EngineTimes& header_times() const { return header_times_; }

  // The one outcome. Closes the connection unless the answer is complete and it may serve on.
  void settle(Outcome outcome, const Error* error);
  // Settles as failed, for another channel to try.
  void settle_failed(Failure failure);

 private:
  // kWait: the step cannot end without waiting; the coroutine of its name goes on with it.
  enum class Step : uint8_t { kGoOn, kWait, kFailed, kGone, kDeadConnection };

  Step try_lease();
  net::Task<Step> lease();
  net::Task<Step> dial();
  Step try_send();
  net::Task<Step> send();
  Step read_head(const Received& received);
  Step stop(const Wake& wake);
  Step stop(const Received& received);
  Step fail(Error error, Outcome outcome);
  bool is_dead(const Received& received) const;
  Result<net::DialTarget> target();
  void compose_head(std::string& out, uint64_t body_bytes);
  void trim_request();
  std::string_view whole_body() const;
  void edit_body();
  void start_over();
  bool write_some(std::span<iovec>& pieces);
  void keep_unwritten(std::span<const iovec> pieces);
  void sent(Nanos now);
  void read_head_fields(Nanos now);
  void note_connection(Nanos now);

  void on_readable() override {
    net::Event& event = state_.client.event();
    const bool pumped = pump_ != nullptr && event.is_awaited(kUpstreamReadable) && pump_->pump();
    if (!pumped) event.raise(kUpstreamReadable);
  }
  void on_writable() override { state_.client.event().raise(kUpstreamWritable); }

  ExchangeState& state_;
  const http::RequestHead& client_head_;
  const route::Channel& channel_;
  const route::Endpoint endpoint_;
  const std::string upstream_model_;
  const int number_;
  const size_t record_;
  http::Lease lease_;
  Pump* pump_ = nullptr;
  std::unique_ptr<UpstreamHead> response_;
  std::optional<http::ResponseReader> reader_;  // made anew for a second connection
  wire::EngineTimes header_times_;
  std::unique_ptr<edge::BetaFlags> betas_;  // null: the channel takes whatever came
  // What is sent instead of the body that there is, and what it says; null: that body as it is.
  std::unique_ptr<Trimmed> trimmed_;
  std::unique_ptr<wire::RequestEdits> edits_;  // until the answer's head has come
  std::string unwritten_bytes_;                // what the loop's buffer had of an unwritten request
  std::vector<iovec> unwritten_;               // what the kernel did not take at once
  std::unique_ptr<Received> early_;            // came before the request was sent
  std::unique_ptr<Failure> failure_;
  std::string_view first_;
  Nanos first_at_ = 0;
  bool usage_injected_ = false;
  bool settled_ = false;
  bool spoiled_ = false;
  bool reused_ = false;
  bool drained_ = true;    // the last read took all there was
  bool any_byte_ = false;  // of an answer on this connection
};

}  // namespace hw::gateway
