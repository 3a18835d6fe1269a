#include "gateway/exchange_state.h"

#include <algorithm>

#include "base/text.h"
#include "edge/credentials.h"

namespace hw::gateway {
namespace {

using timeline::ExchangeStamp;

// Longest x-request-id of a caller that is kept.
constexpr size_t kClientIdMax = 256;

// What the end of drain_s cut off is refused by us: no clock of a channel's and not the client.
void name_drained(timeline::Call& call) {
  const std::string_view name = error_info(ErrorCode::kDraining).name;
  if (call.error.code != name) return;
  call.outcome = Outcome::kRejected;
  if (call.attempts.empty()) return;
  timeline::Attempt& last = call.attempts.back();
  if (last.outcome == Outcome::kClientGone) last.error = call.error;
  if (last.error.code == name) last.outcome = Outcome::kRejected;
}

}  // namespace

// --- the record --------------------------------------------------------------------------------

void ExchangeState::begin(const http::RequestHead& head, std::string_view endpoint,
                          Dialect dialect) {
  call.arrived_wall = client.arrived_wall();
  call.id = RequestId::make(call.arrived_wall, context.random);
  call.endpoint = endpoint;
  call.dialect = dialect;
  call.stamps.set_once(ExchangeStamp::kArrived, 0);
  call.stamps.set_once(ExchangeStamp::kHeadRead, offset(client.head_read()));
  call.client_address = client.peer_address();
  call.client_request_id = head.fields.value("x-request-id").substr(0, kClientIdMax);
  trace = TraceParent::parse(head.fields.value("traceparent"));
  if (!trace.valid()) {
    trace.trace = TraceId::of(call.id);
    trace.flags = 0;
  }
  span_seed = context.random.next();
  call.trace = trace.trace;
  call.trace.write_hex(trace_hex.data());
  clocks.start(ClockName::kTotal, client.arrived(), settings->options.timeouts.total_ms);
  answer.set_due(clocks.due(ClockName::kTotal));
}

Result<const access::Key*> ExchangeState::admit(const http::RequestHead& head) {
  if (context.common.draining.load(std::memory_order_relaxed)) {
    return fail(ErrorCode::kDraining, "The gateway is shutting down; send the request again");
  }
  const edge::Credentials presented(head);
  const Result<access::Admission> who = access::authorize(*settings->keys, presented.all());
  if (!who) return fail(who.error());
  call.key = who->key->name;
  call.credential_from = access::credential_source_name(who->source);
  return who->key;
}

void ExchangeState::note_lossy() {
  for (std::string& mark : translation->lossy()) {
    if (std::ranges::find(call.lossy, mark) == call.lossy.end())
      call.lossy.push_back(std::move(mark));
  }
}

void ExchangeState::set_gone() {
  const bool shut_down = client.gone_reason() == http::kShutdownReason;
  if (!shut_down) context.metrics.count_abort(phase);
  const Timeouts& limits = settings->options.timeouts;
  Error error(ErrorCode::kClientGone, concat("The client left: ", client.gone_reason()));
  if (shut_down) {
    error = drained();
  } else if (!client.gone()) {
    error = Error(ErrorCode::kTimeoutTotal, concat("The client had not taken its answer within ",
                                                   limits.total_ms, " ms (total_ms)"));
    client.break_off();
  } else if (client.gone_reason() == "write stalled") {
    error = Error(ErrorCode::kTimeoutWrite, concat("The client took no byte for ",
                                                   limits.write_stall_ms, " ms (write_stall_ms)"));
  }
  call.outcome = error.code == ErrorCode::kClientGone ? Outcome::kClientGone : Outcome::kTimeout;
  call.error = {std::string(error.name()), error.message};
}

void ExchangeState::finish() {
  const Nanos now = monotonic_ns();
  own.pause(now);
  call.stamps.set_once(ExchangeStamp::kFinished, offset(now));
  if (client.told_to_end()) name_drained(call);
  call.status = answer.status() != 0 ? answer.status() : 499;
  call.overhead_ns = own.total();
  call.client_blocked_ns = client.blocked_ns();
  call.request_bytes = client.bytes_read();
  call.response_bytes = client.bytes_written();
  call.heartbeats = answer.heartbeats();
  if (call.stream) call.gaps = token_times.summary();
  const net::TcpInfo info = client.tcp_info(now);
  call.client.rtt_us = info.rtt_us;
  call.client.retransmits = info.retransmits;
  call.client.unacked = info.unacked;
  context.metrics.record_loop_late(call.loop_late_max_ns);
}

// --- while it runs -----------------------------------------------------------------------------

Nanos ExchangeState::note_lateness(Nanos now) {
  const Nanos late = context.loop.late(now);
  if (late > call.loop_late_max_ns) call.loop_late_max_ns = late;
  return late;
}

void ExchangeState::drop_request() {
  body = {};
  facts.reset();
  if (translation != nullptr) translation->drop_request();
  release(decoded_body);
  route.path = route.query = route.id = {};
  client.release_request();
}

edge::ServerTiming ExchangeState::server_timing() const {
  edge::ServerTiming timing;
  timing.total = offset(monotonic_ns());
  if (!call.attempts.empty()) {
    const Nanos sent = call.attempts.back().stamps.get(timeline::AttemptStamp::kSent);
    if (sent >= 0) timing.upstream = timing.total - sent;
  }
  timing.gateway = own.total();
  return timing;
}

edge::OwnHead ExchangeState::error_head(const Error& error, uint64_t body_bytes) const {
  const ErrorInfo& info = error_info(error.code);
  edge::OwnHead out;
  out.status = info.status == 499 ? 408 : info.status;
  out.framing = {edge::AnswerFraming::Kind::kLength, body_bytes};
  out.labels = labels();
  out.keep_alive = client.keep_alive();
  out.retry_after_s = info.retry_after_s;
  out.should_retry = info.should_retry;
  out.server_timing = server_timing();
  return out;
}

net::Task<bool> ExchangeState::flush() {
  const Nanos blocked = client.blocked_ns();
  const bool written = co_await answer.flush();
  own.deduct(client.blocked_ns() - blocked);
  co_return written;
}

net::Task<bool> ExchangeState::write_whole(std::string_view head, std::string_view whole_body,
                                           int status) {
  const Nanos blocked = client.blocked_ns();
  const bool written = co_await answer.whole(head, whole_body, status);
  own.deduct(client.blocked_ns() - blocked);
  co_return written;
}

net::Task<Wake> ExchangeState::wait(net::Signals wanted) {
  net::Event& event = client.event();
  for (;;) {
    if (client.told_to_end() && !client.gone()) {
      Wake over;
      over.clock = true;
      over.which = ClockName::kDrain;
      co_return over;
    }
    client.deadline().set(clocks.next());
    const net::Signals news = wanted | http::kGone | http::kDeadline | http::kHalfClosed;
    if (event.pending(news) == 0) {
      auto suspension = event.suspend(news);
      co_await std::move(suspension);
    }
    const net::Signals got = event.take(news);
    Wake wake;
    wake.signals = got & wanted;
    wake.gone = (got & http::kGone) != 0 || client.gone();
    if (wake.gone || wake.signals != 0) co_return wake;
    const Nanos now = monotonic_ns();
    if ((got & http::kHalfClosed) != 0 &&
        settings->options.client_half_close == HalfClose::kProbe && answer.relayed() &&
        answer.heartbeat_possible()) {
      co_await answer.probe();
      continue;
    }
    if (clocks.expired(now, wake.which)) {
      wake.clock = true;
      co_return wake;
    }
    if (clocks.passed(ClockName::kBackoff, now)) {
      wake.clock = true;
      wake.which = ClockName::kBackoff;
      co_return wake;
    }
    if (!clocks.passed(ClockName::kHeartbeat, now)) continue;
    clocks.start(ClockName::kHeartbeat, now, settings->options.keepalive_ms);
    if (answer.heartbeat_possible()) {
      const edge::AnswerLabels who = labels();
      co_await answer.heartbeat(call.dialect, who);
    }
  }
}

}  // namespace hw::gateway
