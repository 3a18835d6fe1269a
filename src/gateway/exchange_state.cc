#include "gateway/exchange_state.h"

#include "base/text.h"

namespace hw::gateway {
http::Pool& Upstreams::pool(const route::Channel& channel) {
  key_.assign(channel.options.name).append(1, '\n').append(channel.instance);
  std::unique_ptr<http::Pool>& pool = pools_[key_];
  if (pool == nullptr) pool = std::make_unique<http::Pool>(loop_, channel.options.connections_max);
  return *pool;
}

Result<net::TlsContext*> Upstreams::tls(const route::Channel& channel) {
  std::unique_ptr<net::TlsContext>& context = tls_[channel.options.ca_file];
  if (context == nullptr) {
    Result<std::unique_ptr<net::TlsContext>> made =
        net::TlsContext::client(channel.options.ca_file);
    if (!made) return fail(made.error());
    context = std::move(*made);
  }
  return context.get();
}

void Upstreams::close_idle() {
  for (auto& [key, pool] : pools_) pool->close_idle();
}

Nanos ExchangeState::note_lateness(Nanos now) {
  const Nanos late = context.loop.late(now);
  if (late > call.loop_late_max_ns) call.loop_late_max_ns = late;
  return late;
}

void ExchangeState::drop_request() {
  body = {};
  facts.reset();
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
