#include "gateway/attempt.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/assert.h"
#include "base/text.h"
#include "translate/trimmed_body.h"

namespace hw::gateway {
namespace {

using timeline::AttemptStamp;

// Requests up to here are written from one buffer; larger bodies are gathered from where they lie.
constexpr size_t kSmallRequest = 16 * 1024;

// HTTP_PROXY and the like, "http://[user:password@]host:port"; only where a channel asks for it.
struct Proxy {
  std::string host;
  uint16_t port = 0;
};

bool excluded(std::string_view host, std::string_view list) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view entry = trim(list.substr(0, comma));
    if (!entry.empty() && entry.front() == '.') entry.remove_prefix(1);
    const bool suffix = entry.size() < host.size() &&
                        host.substr(host.size() - entry.size()) == entry &&
                        host[host.size() - entry.size() - 1] == '.';
    if (entry == "*" || (!entry.empty() && (equal_ignoring_case(entry, host) || suffix)))
      return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

const char* first_of(const char* a, const char* b) {
  const char* value = std::getenv(a);
  return value != nullptr && *value != 0 ? value : std::getenv(b);
}

Proxy proxy_for(const route::BaseUrl& url) {
  const char* setting =
      url.tls ? first_of("HTTPS_PROXY", "https_proxy") : first_of("HTTP_PROXY", "http_proxy");
  const char* exclude = first_of("NO_PROXY", "no_proxy");
  if (setting == nullptr || *setting == 0) return {};
  if (exclude != nullptr && excluded(url.host, exclude)) return {};
  std::string note;
  const Result<route::BaseUrl> parsed = route::parse_base_url(setting, Family::kOpenai, note);
  if (!parsed) return {};
  return {parsed->host, parsed->port};
}

}  // namespace

Attempt::Attempt(ExchangeState& state, const http::RequestHead& head,
                 const route::Candidate& candidate, int number, Nanos now)
    : state_(state),
      client_head_(head),
      channel_(*candidate.channel),
      endpoint_(candidate.endpoint),
      upstream_model_(candidate.upstream_model),
      number_(number),
      record_(state.call.attempts.size()),
      response_(std::make_unique_for_overwrite<UpstreamHead>()) {
  reader_.emplace(state.settings->server.head, "POST");
  timeline::Attempt& made = state_.call.attempts.emplace_back();
  made.channel = channel_.options.name;
  made.instance = channel_.instance;
  stamp(AttemptStamp::kBegun, now);
  state_.answer_channel = channel_.options.name;
  state_.call.upstream_model = upstream_model_;
  state_.call.lossy.clear();
  trim_request();
  edits_ = std::make_unique<wire::RequestEdits>(trimmed_ ? trimmed_->facts : *state_.facts);
  edit_body();
}

Attempt::~Attempt() {
  if (!settled_) settle(Outcome::kGatewayError, nullptr);
}

// --- the steps ---------------------------------------------------------------------------------

net::Task<Started> Attempt::start() {
  Step step;
  for (bool is_second = false;; is_second = true) {
    step = try_lease();
    if (step == Step::kWait) step = co_await lease();
    if (step == Step::kGoOn && !lease_.connected()) step = co_await dial();
    if (step == Step::kGoOn) step = try_send();
    if (step == Step::kWait) step = co_await send();
    while (step == Step::kGoOn && !reader_->head_seen()) {
      Received received = read_on();
      while (received.end == Received::End::kNothing) {
        const Wake wake = co_await readable();
        received = read_on(wake);
      }
      step = read_head(received);
    }
    if (step != Step::kDeadConnection) break;
    if (is_second) {
      step = fail(
          Error(ErrorCode::kUpstreamBroken, concat("Channel ", channel_.options.name,
                                                   ": the connection broke before an answer came")),
          Outcome::kUpstreamError);
      break;
    }
    start_over();
  }
  switch (step) {
    case Step::kGoOn:
      co_return Started::kHead;
    case Step::kGone:
      co_return Started::kGone;
    case Step::kWait:
    case Step::kFailed:
    case Step::kDeadConnection:
      break;
  }
  co_return Started::kFailed;
}

// A pooled connection that the upstream had closed meanwhile: once more on a fresh one.
void Attempt::start_over() {
  lease_.disconnect();
  reader_.emplace(state_.settings->server.head, "POST");
  record().stamps.move_to(AttemptStamp::kSent, timeline::AttemptStamps::kAbsent);
}

Attempt::Step Attempt::try_lease() {
  if (lease_.held()) return Step::kGoOn;
  state_.phase = AbortPhase::kConnect;
  lease_ = state_.context.upstreams.pool(channel_).try_lease();
  if (!lease_.held()) return Step::kWait;
  // It took no time worth a look at the clock.
  record().stamps.set_once(AttemptStamp::kLeased, record().stamps.get(AttemptStamp::kBegun));
  return Step::kGoOn;
}

net::Task<Attempt::Step> Attempt::lease() {
  http::Pool::Ticket ticket(state_.context.upstreams.pool(channel_), state_.client.event(),
                            kPlaceGranted);
  const route::ChannelTimeouts& own = channel_.options.timeouts;
  const Nanos now = monotonic_ns();
  state_.own.pause(now);
  state_.clocks.start(ClockName::kPoolWait, now,
                      own.pool_wait_ms.value_or(state_.settings->options.timeouts.pool_wait_ms));
  while (!ticket.granted()) {
    const Wake wake = co_await state_.wait(kPlaceGranted);
    if (wake.gone || wake.clock) co_return stop(wake);
  }
  const Nanos granted = monotonic_ns();
  state_.own.resume(granted);
  state_.clocks.stop(ClockName::kPoolWait);
  lease_ = ticket.take();
  stamp(AttemptStamp::kLeased, granted);
  co_return Step::kGoOn;
}

Result<net::DialTarget> Attempt::target() {
  net::DialTarget to;
  const route::BaseUrl& url = channel_.options.base_url;
  to.host = url.host;
  to.port = url.port;
  if (url.tls) {
    Result<net::TlsContext*> tls = state_.context.upstreams.tls(channel_);
    if (!tls) return hw::fail(tls.error());
    to.tls = *tls;
  }
  if (channel_.options.use_proxy) {
    const Proxy proxy = proxy_for(url);
    to.proxy_host = proxy.host;
    to.proxy_port = proxy.port;
  }
  return to;
}

net::Task<Attempt::Step> Attempt::dial() {
  Result<net::DialTarget> to = target();
  if (!to) co_return fail(to.error(), Outcome::kUpstreamError);
  Nanos now = monotonic_ns();
  const route::ChannelTimeouts& own = channel_.options.timeouts;
  state_.clocks.start(ClockName::kConnect, now,
                      own.connect_ms.value_or(state_.settings->options.timeouts.connect_ms));
  state_.own.pause(now);
  net::Dial dialling(state_.context.loop, state_.context.upstreams.resolver(), *to,
                     state_.client.event(), kDialled);
  Wake wake;
  while (!dialling.finished() && !wake.gone && !wake.clock) wake = co_await state_.wait(kDialled);
  const net::DialTimes times = dialling.times();
  if (times.resolved >= 0) stamp(AttemptStamp::kResolved, times.resolved);
  if (times.connected >= 0) stamp(AttemptStamp::kConnected, times.connected);
  if (times.secured >= 0) stamp(AttemptStamp::kSecured, times.secured);
  if (!dialling.finished()) co_return stop(wake);
  now = monotonic_ns();
  state_.own.resume(now);
  state_.clocks.stop(ClockName::kConnect);
  Result<net::Socket> socket = dialling.take();
  if (!socket) {
    co_return fail(Error(ErrorCode::kConnect,
                         concat("Channel ", channel_.options.name, ": ", socket.error().message)),
                   Outcome::kUpstreamError);
  }
  lease_.attach(std::move(*socket));
  co_return Step::kGoOn;
}

// --- sending -----------------------------------------------------------------------------------

void Attempt::compose_head(std::string& out, uint64_t body_bytes) {
  TraceParent trace = state_.trace;
  trace.parent = state_.span_seed + static_cast<uint64_t>(number_);
  if (trace.parent == 0) trace.parent = 1;
  edge::UpstreamRequest request{.head = client_head_,
                                .channel = channel_,
                                .endpoint = endpoint_,
                                .query = translated() ? std::string_view() : state_.route.query,
                                .stream = state_.wants_stream(),
                                .body_decoded = state_.body_decoded,
                                .translated = translated(),
                                .betas = betas_.get(),
                                .body_bytes = body_bytes,
                                .request_id = state_.call.id.view(),
                                .attempt = number_,
                                .trace = trace};
  edge::append_upstream_head(out, request);
}

// Cuts out what the channel does not take, and marks it. A body that was readable stays so.
void Attempt::trim_request() {
  const route::ChannelOptions& options = channel_.options;
  std::vector<std::string>& lossy = state_.call.lossy;
  if (!translated() && !options.betas.empty()) {
    betas_ = std::make_unique<edge::BetaFlags>(edge::beta_flags(client_head_.fields, options));
    for (const std::string& flag : betas_->cut) lossy.push_back(concat("anthropic-beta: ", flag));
  }
  std::optional<translate::TrimmedBody> left =
      translate::trim(dialect(), whole_body(), options.fields);
  if (!left) return;
  auto trimmed = std::make_unique<Trimmed>();
  trimmed->body = std::move(left->body);
  if (!wire::scan_request(dialect(), trimmed->body, trimmed->facts)) return;
  lossy.insert(lossy.end(), left->lossy.begin(), left->lossy.end());
  trimmed_ = std::move(trimmed);
}

// The body for this channel, with all that is in it.
std::string_view Attempt::whole_body() const {
  return translated() ? state_.translation->body() : state_.body;
}

void Attempt::edit_body() {
  if (translated()) return;
  edits_->set_model(upstream_model_);
  const bool countable = state_.call.dialect == Dialect::kOpenaiChat ||
                         state_.call.dialect == Dialect::kOpenaiCompletions;
  if (state_.wants_stream() && countable && channel_.options.inject_usage) {
    usage_injected_ = edits_->ask_for_usage(state_.call.dialect);
  }
}

// The request is composed in the loop's buffer, which the kernel mostly takes at once.
Attempt::Step Attempt::try_send() {
  reused_ = lease_.reused();
  record().connection.reused = reused_;
  any_byte_ = false;
  drained_ = true;
  lease_.socket().set_handler(this);
  state_.client.event().drop(kUpstreamReadable | kUpstreamWritable);

  const json::Splice& splice = edits_->splice();
  const std::string_view text = trimmed_ ? std::string_view(trimmed_->body) : whole_body();
  const uint64_t body_bytes = splice.size(text.size());
  const json::Segments body = splice.segments(text);
  std::string& out = state_.context.out;
  out.clear();
  compose_head(out, body_bytes);
  std::array<iovec, 1 + std::tuple_size_v<decltype(body.parts)>> pieces;
  size_t count = 1;
  for (const std::string_view part : body) {
    if (body_bytes <= kSmallRequest) {
      out += part;
    } else {
      pieces[count++] = {const_cast<char*>(part.data()), part.size()};
    }
  }
  pieces[0] = {out.data(), out.size()};
  std::span<iovec> left(pieces.data(), count);
  if (!write_some(left)) {
    keep_unwritten(left);
    return Step::kWait;
  }
  sent(monotonic_ns());
  return Step::kGoOn;
}

net::Task<Attempt::Step> Attempt::send() {
  std::span<iovec> left(unwritten_);
  do {
    state_.own.pause(monotonic_ns());
    lease_.socket().want_write();
    lease_.socket().want_read();
    const Wake wake = co_await state_.wait(kUpstreamWritable | kUpstreamReadable);
    if (wake.gone || wake.clock) co_return stop(wake);
    state_.own.resume(monotonic_ns());
    if ((wake.signals & kUpstreamReadable) != 0) {
      const Received early = read_now();
      if (early.end == Received::End::kNothing) continue;  // TLS: a record without data
      // An answer before the end of the request: a refusal, which needs no more of it.
      spoil();
      early_ = std::make_unique<Received>(early);
      break;
    }
  } while (!write_some(left));
  release(unwritten_bytes_);
  unwritten_ = std::vector<iovec>();
  sent(monotonic_ns());
  co_return Step::kGoOn;
}

// Takes from the front of `pieces` what the kernel takes. False: it takes no more for now. True as
// well where the connection is broken: the upstream may have answered before it had read
// everything, and start() finds out.
bool Attempt::write_some(std::span<iovec>& pieces) {
  for (;;) {
    while (!pieces.empty() && pieces.front().iov_len == 0) pieces = pieces.subspan(1);
    if (pieces.empty()) return true;
    const net::IoResult put = lease_.socket().write(pieces);
    if (put.state != net::IoState::kOk) return put.state != net::IoState::kWouldBlock;
    record().bytes_sent += put.bytes;
    size_t taken = put.bytes;
    for (iovec& piece : pieces) {
      const size_t of_this = std::min(taken, piece.iov_len);
      piece.iov_base = static_cast<char*>(piece.iov_base) + of_this;
      piece.iov_len -= of_this;
      taken -= of_this;
    }
  }
}

// What lies in the loop's buffer is copied; the rest of a body stays where it is.
void Attempt::keep_unwritten(std::span<const iovec> pieces) {
  unwritten_.assign(pieces.begin(), pieces.end());
  iovec& first = unwritten_.front();
  const char* const from = static_cast<const char*>(first.iov_base);
  const std::string& out = state_.context.out;
  if (from < out.data() || from >= out.data() + out.size()) return;
  unwritten_bytes_.assign(from, first.iov_len);
  first.iov_base = unwritten_bytes_.data();
}

void Attempt::sent(Nanos now) {
  stamp(AttemptStamp::kSent, now);
  state_.own.pause(now);
  const Timeouts& common = state_.settings->options.timeouts;
  if (state_.wants_stream()) {
    state_.clocks.start(ClockName::kFirstToken, now,
                        channel_.options.timeouts.first_token_ms.value_or(common.first_token_ms));
  }
  state_.phase = AbortPhase::kFirstByte;
}

// --- receiving ---------------------------------------------------------------------------------

net::Task<Received> Attempt::receive() {
  Received received = read_on();
  while (received.end == Received::End::kNothing) {
    const Wake wake = co_await readable();
    received = read_on(wake);
  }
  co_return received;
}

Received Attempt::read_on() {
  if (early_ != nullptr) {
    const Received early = *early_;
    early_.reset();
    return early;
  }
  if (!drained_) return read_now();
  Received nothing;
  nothing.end = Received::End::kNothing;
  return nothing;
}

net::Task<Wake> Attempt::readable() {
  lease_.socket().want_read();
  return state_.wait(kUpstreamReadable);
}

Received Attempt::read_on(const Wake& wake) {
  if (!wake.gone && !wake.clock) return read_now();
  Received out;
  out.end = wake.gone ? Received::End::kGone : Received::End::kClock;
  out.clock = wake.which;
  out.at = monotonic_ns();
  return out;
}

Received Attempt::read_now() {
  Received out;
  const net::IoResult got =
      lease_.socket().read(state_.context.read.get(), LoopContext::kReadBytes);
  out.at = monotonic_ns();
  switch (got.state) {
    case net::IoState::kOk:
      drained_ = got.drained;
      any_byte_ = true;
      record().bytes_received += got.bytes;
      out.bytes = {state_.context.read.get(), got.bytes};
      break;
    case net::IoState::kWouldBlock:
      drained_ = true;
      out.end = Received::End::kNothing;
      break;
    case net::IoState::kEof:
      out.end = Received::End::kClosed;
      break;
    case net::IoState::kError:
      out.end = Received::End::kBroken;
      break;
  }
  return out;
}

bool Attempt::is_dead(const Received& received) const {
  return reused_ && !any_byte_ &&
         (received.end == Received::End::kClosed || received.end == Received::End::kBroken);
}

// Takes what came of the answer's head.
Attempt::Step Attempt::read_head(const Received& received) {
  if (is_dead(received)) return Step::kDeadConnection;
  if (received.end != Received::End::kBytes) return stop(received);
  state_.own.resume(received.at);
  state_.note_lateness(received.at);
  std::string_view rest = received.bytes;
  while (!rest.empty()) {
    const Result<http::ResponseReader::Step> step = reader_->next(rest, *response_);
    if (!step) {
      return fail(Error(ErrorCode::kUpstreamProtocol,
                        concat("Channel ", channel_.options.name, ": ", step.error().message)),
                  Outcome::kUpstreamError);
    }
    if (step->kind != http::ResponseReader::Kind::kHead) continue;
    first_ = rest;
    first_at_ = received.at;
    read_head_fields(received.at);
    return Step::kGoOn;
  }
  state_.own.pause(monotonic_ns());
  return Step::kGoOn;
}

void Attempt::read_head_fields(Nanos now) {
  edits_.reset();  // the request will not be sent again on this channel
  trimmed_.reset();
  stamp(AttemptStamp::kHead, now);
  record().status = response_->status;
  for (const http::Field& field : response_->fields) {
    if (is_token_named(field.name, "x-request-id") || is_token_named(field.name, "request-id")) {
      record().upstream_request_id = field.value.substr(0, 128);
    } else if (!field.name.empty() && lower(field.name[0]) == 'x') {
      wire::read_engine_header(field.name, field.value, header_times_);
    }
  }
  state_.clocks.start(
      ClockName::kSilence, now,
      channel_.options.timeouts.silence_ms.value_or(state_.settings->options.timeouts.silence_ms));
}

// --- ending ------------------------------------------------------------------------------------

Attempt::Step Attempt::stop(const Wake& wake) {
  if (wake.gone) {
    settle(Outcome::kClientGone, nullptr);
    return Step::kGone;
  }
  return fail(clock_error(wake.which, state_.clocks.limit_ms(wake.which), channel_.options.name),
              Outcome::kTimeout);
}

Attempt::Step Attempt::stop(const Received& received) {
  Wake wake;
  wake.which = received.clock;
  wake.gone = received.end == Received::End::kGone;
  if (wake.gone || received.end == Received::End::kClock) return stop(wake);
  return fail(Error(ErrorCode::kUpstreamBroken, concat("Channel ", channel_.options.name, ": ",
                                                       received.end == Received::End::kClosed
                                                           ? "the upstream closed the connection"
                                                           : "the connection broke",
                                                       " before its answer was complete")),
              Outcome::kUpstreamError);
}

Attempt::Step Attempt::fail(Error error, Outcome outcome) {
  Failure failure;
  // When the whole time is used up there is none left for another channel.
  failure.elsewhere = error.code != ErrorCode::kTimeoutTotal;
  failure.error = std::move(error);
  failure.outcome = outcome;
  settle_failed(std::move(failure));
  return Step::kFailed;
}

void Attempt::settle_failed(Failure failure) {
  settle(failure.outcome, &failure.error);
  failure_ = std::make_unique<Failure>(std::move(failure));
}

void Attempt::note_connection(Nanos now) {
  if (!lease_.connected()) return;
  const net::TcpInfo info = lease_.socket().tcp_info(now);
  timeline::ConnectionInfo& to = record().connection;
  to.rtt_us = info.rtt_us;
  to.retransmits = info.retransmits;
  to.unacked = info.unacked;
}

void Attempt::settle(Outcome outcome, const Error* error) {
  HW_ASSERT(!settled_);
  settled_ = true;
  const Nanos now = monotonic_ns();
  state_.own.resume(now);
  stamp(AttemptStamp::kClosed, now);
  timeline::Attempt& made = record();
  made.outcome = outcome;
  if (error != nullptr) made.error = {std::string(error->name()), error->message};
  note_connection(now);
  state_.clocks.stop_attempt();
  state_.answer.set_stream(nullptr);
  if (lease_.connected() && reader_->reusable() && !spoiled_) {
    lease_.socket().set_handler(nullptr);
    lease_.give_back();
  } else {
    lease_.drop();
  }
}

}  // namespace hw::gateway
