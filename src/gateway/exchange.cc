#include "gateway/exchange.h"

#include <algorithm>

#include "base/text.h"
#include "gateway/body_relay.h"
#include "gateway/stream_relay.h"
#include "http/coding.h"
#include "json/writer.h"
#include "wire/error_body.h"
#include "wire/usage.h"

namespace hw::gateway {
namespace {

using timeline::ExchangeStamp;

// Bodies up to here are not counted in the memory that all bodies share: the count is a word that
// every core writes, and twenty thousand such bodies are 320 MiB.
constexpr uint64_t kUncountedBody = 16 * 1024;

bool is_event_stream(const http::ResponseHead& head) {
  constexpr std::string_view kType = "text/event-stream";
  const std::string_view type = head.fields.value("content-type");
  return type.size() >= kType.size() && equal_ignoring_case(type.substr(0, kType.size()), kType);
}

// The gateway ends, and no other channel is of any use.
std::unique_ptr<Failure> cut_off() {
  auto out = std::make_unique<Failure>();
  out->error = drained();
  out->outcome = Outcome::kRejected;
  out->elsewhere = false;
  return out;
}

}  // namespace

Exchange::Exchange(LoopContext& context, http::ServerConnection& client,
                   std::shared_ptr<const Snapshot> settings, const edge::Route& route)
    : state_(context, client, std::move(settings)) {
  state_.route = route;
}

Exchange::~Exchange() {
  if (body_held_ > 0)
    state_.context.common.body_bytes.fetch_sub(body_held_, std::memory_order_relaxed);
}

net::Task<void> Exchange::run(std::unique_ptr<Exchange> exchange, const http::RequestHead& head) {
  Exchange& self = *exchange;
  ExchangeState& state = self.state_;
  state.begin(head, route::endpoint_path(state.route.endpoint),
              route::endpoint_dialect(state.route.endpoint));
  const bool incomplete = self.open(head);
  if (incomplete) co_await self.read_body();
  const Nanos now = self.decide(head);
  if (self.estimates()) {
    co_await self.answer_estimate();
  } else if (self.refused_ == nullptr) {
    state.series->inflight.add(1);
    co_await self.serve(head, now);
    state.series->inflight.add(-1);
  } else if (self.refused_->code == ErrorCode::kClientGone) {
    state.set_gone();
  } else {
    co_await self.reject(*self.refused_);
  }
  state.finish();
  state.context.metrics.count(state.call, *state.series);
  state.context.sink.end(state.call);
}

// --- the request -------------------------------------------------------------------------------

// By the head alone. True where the body is to be read.
bool Exchange::open(const http::RequestHead& head) {
  const Result<const access::Key*> who = state_.admit(head);
  Status ready;
  if (who) {
    key_ = *who;
    ready = expect_body(head);
  } else {
    ready = fail(who.error());
  }
  body_complete_at_ = state_.client.head_read();
  if (!ready) refused_ = std::make_unique<Error>(ready.error());
  return ready && !state_.client.take_body(state_.settings->options.body_bytes_max);
}

net::Task<void> Exchange::read_body() {
  const uint64_t bytes_max = state_.settings->options.body_bytes_max;
  const Status read = co_await state_.client.read_body(bytes_max, body_deadline());
  if (!read) refused_ = std::make_unique<Error>(read.error());
  body_complete_at_ = monotonic_ns();
}

// Whether the request is served or refused (refused_); gives the time of that.
Nanos Exchange::decide(const http::RequestHead& head) {
  if (refused_ == nullptr) {
    Status ready = body_read(head, body_complete_at_);
    if (ready) ready = understand();
    if (!ready) refused_ = std::make_unique<Error>(ready.error());
  }
  const Nanos now = monotonic_ns();
  timeline::ExchangeStamps& stamps = state_.call.stamps;
  if (stamps.has(ExchangeStamp::kBodyRead)) {
    stamps.set_once(ExchangeStamp::kAuthorized, state_.offset(now));
    // Who is served is admitted when a channel is ready for it (serve).
    if (refused_ != nullptr || candidates_.empty())
      stamps.set_once(ExchangeStamp::kAdmitted, state_.offset(now));
  }
  return now;
}

Status Exchange::hold_body(uint64_t bytes) {
  if (bytes <= kUncountedBody) return {};
  std::atomic<uint64_t>& all = state_.context.common.body_bytes;
  const uint64_t before = all.fetch_add(bytes, std::memory_order_relaxed);
  body_held_ += bytes;
  if (before + bytes <= state_.settings->options.body_memory_bytes_max) return {};
  return fail(ErrorCode::kOverloaded,
              "The gateway holds too many request bodies at once (body_memory_bytes_max); try "
              "again in a moment");
}

// Above the limit a body is refused by its length and never held.
Status Exchange::expect_body(const http::RequestHead& head) {
  if (head.framing != http::BodyFraming::kLength) return {};
  return hold_body(std::min(head.content_length, state_.settings->options.body_bytes_max));
}

Nanos Exchange::body_deadline() const {
  const int64_t body_ms = state_.settings->options.timeouts.body_ms;
  return body_ms == 0 ? net::Deadline::kNever : state_.client.head_read() + body_ms * kMillisecond;
}

Status Exchange::body_read(const http::RequestHead& head, Nanos now) {
  state_.call.stamps.set_once(ExchangeStamp::kBodyRead, state_.offset(now));
  state_.phase = AbortPhase::kQueue;
  state_.own.resume(now);
  state_.body = state_.client.body();
  if (head.framing == http::BodyFraming::kChunked) {
    if (const Status held = hold_body(state_.body.size()); !held) return held;
  }
  return decode_body(head);
}

Status Exchange::decode_body(const http::RequestHead& head) {
  std::string coding;  // lines of one name are one list
  for (const http::Field& field : head.fields) {
    if (is_token_named(field.name, "content-encoding"))
      coding += concat(coding.empty() ? "" : ", ", field.value);
  }
  if (coding.empty()) return {};
  Result<http::Decoder> decoder = http::Decoder::make(coding);
  if (!decoder) return fail(decoder.error());
  if (decoder->is_identity()) return {};
  const uint64_t limit = state_.settings->options.body_bytes_max;
  if (const Status done = decoder->decode(state_.body, state_.decoded_body, limit); !done)
    return done;
  if (const Status done = decoder->finish(); !done) return done;
  state_.body = state_.decoded_body;
  state_.body_decoded = true;
  return hold_body(state_.body.size());
}

Status Exchange::understand() {
  wire::RequestFacts& facts = *state_.facts;
  if (const Status read = wire::scan_request(state_.call.dialect, state_.body, facts); !read)
    return read;
  state_.input_estimate = wire::estimated_input(state_.call.dialect, facts);
  state_.call.model = facts.model;
  const bool streams = state_.route.endpoint != route::Endpoint::kEmbeddings &&
                       state_.route.endpoint != route::Endpoint::kCountTokens;
  state_.call.stream = facts.stream && streams;
  if (state_.settings->catalogue->is_configured(facts.model))
    state_.series = &state_.context.metrics.model(state_.call.model);
  if (const Status allowed = access::check_model(*key_, facts.model); !allowed) return allowed;
  return find_candidates();
}

Status Exchange::find_candidates() {
  route::NoMatch why{};
  state_.settings->catalogue->find(state_.facts->model, state_.route.endpoint,
                                   state_.context.random, candidates_, why);
  if (!candidates_.empty()) return {};
  if (why == route::NoMatch::kWrongEndpoint && estimates()) return {};
  const std::string_view endpoint = route::endpoint_path(state_.route.endpoint);
  const std::string& model = state_.facts->model;
  switch (why) {
    case route::NoMatch::kUnknownModel:
      return fail(wire::unknown_model(model));
    case route::NoMatch::kWrongEndpoint:
      return fail(ErrorCode::kWrongDialect,
                  concat("Your request: no channel that serves model '", model,
                         "' can be asked by ", endpoint,
                         " (see `serves` of the channel); /v1/chat/completions, /v1/responses and "
                         "/v1/messages reach every channel"));
  }
  return fail(ErrorCode::kInternal, "no reason for a missing channel");
}

// --- the attempts ------------------------------------------------------------------------------

net::Task<void> Exchange::serve(const http::RequestHead& head, Nanos now) {
  route::Plan plan(std::move(candidates_), state_.settings->options.retry.attempts_max,
                   state_.settings->options.retry.wait_ms_max * kMillisecond);
  if (state_.wants_stream()) {
    state_.clocks.start(ClockName::kHeartbeat, now, state_.settings->options.keepalive_ms);
  }
  Ending ending = Ending::kFailed;
  bool by_tokenizer = false;  // where that fails, an estimate is better than an error
  for (;; now = monotonic_ns()) {
    if (state_.client.told_to_end()) {
      failure_ = cut_off();
      break;
    }
    const route::Next next = plan.next(now);
    if (next.candidate == nullptr) break;
    if (next.wait > 0) {
      const bool there = co_await back_off(next.wait);
      if (!there) {
        ending = Ending::kGone;
        break;
      }
      now = monotonic_ns();
    }
    // Waiting for a channel before the first attempt is waiting in the queue.
    state_.call.stamps.set_once(ExchangeStamp::kAdmitted, state_.offset(now));
    by_tokenizer = next.candidate->endpoint == route::Endpoint::kTokenize;
    if (next.candidate->endpoint != state_.route.endpoint && !translate_for(*next.candidate))
      continue;
    // On the heap of its own kind, so that this frame stays small.
    const auto attempt =
        std::make_unique<Attempt>(state_, head, *next.candidate, plan.attempts(), now);
    if (state_.call.attempts.size() == 1) state_.context.sink.begin(state_.call);
    const Started started = co_await attempt->start();
    ending = started == Started::kGone ? Ending::kGone : Ending::kFailed;
    if (started == Started::kHead) {
      const std::unique_ptr<Relay> relay = make_relay(*attempt);
      ending = co_await relay->run();
    }
    if (ending != Ending::kFailed) break;
    failure_ = attempt->take_failure();
    if (!failure_->elsewhere) break;
  }
  if (!state_.call.stamps.has(ExchangeStamp::kAdmitted))
    state_.call.stamps.set_once(ExchangeStamp::kAdmitted, state_.offset(monotonic_ns()));
  state_.call.skipped = plan.skipped();
  switch (ending) {
    case Ending::kServed:
      break;
    case Ending::kGone:
      state_.set_gone();
      break;
    case Ending::kFailed:
      if (by_tokenizer) {
        co_await answer_estimate();
      } else {
        co_await answer_failure();
      }
      break;
  }
}

// Says the request in the channel's dialect. False: it cannot be said there; see failure_.
bool Exchange::translate_for(const route::Candidate& candidate) {
  Status said;
  if (state_.translation == nullptr) {
    Result<std::unique_ptr<translate::Translation>> made = translate::Translation::read(
        state_.call.dialect, state_.body, state_.call.model, state_.call.id, state_.input_estimate);
    if (made) {
      state_.translation = std::move(*made);
    } else {
      said = fail(made.error());
    }
  }
  if (said) {
    const route::ChannelOptions& channel = candidate.channel->options;
    translate::Target target;
    target.model = candidate.upstream_model;
    target.ask_for_usage = channel.inject_usage;
    target.max_tokens_default = channel.max_tokens_default;
    target.extra_fields = channel.extra_fields;
    said = state_.translation->write(route::endpoint_dialect(candidate.endpoint), target);
  }
  if (said) return true;
  failure_ = std::make_unique<Failure>();
  failure_->error = said.error();
  failure_->outcome = Outcome::kRejected;
  return false;
}

std::unique_ptr<Relay> Exchange::make_relay(Attempt& attempt) {
  const int status = attempt.head().status;
  if (status >= 200 && status < 300 && is_event_stream(attempt.head()))
    return std::make_unique<StreamRelay>(state_, attempt);
  return std::make_unique<BodyRelay>(state_, attempt);
}

// False: the client left or the exchange's time was up meanwhile.
net::Task<bool> Exchange::back_off(Nanos wait) {
  state_.phase = AbortPhase::kBackoff;
  const Nanos now = monotonic_ns();
  state_.own.pause(now);
  state_.clocks.start(ClockName::kBackoff, now, (wait + kMillisecond - 1) / kMillisecond);
  state_.context.metrics.count_queued(1);
  const Wake wake = co_await state_.wait(0);
  state_.context.metrics.count_queued(-1);
  const Nanos over = monotonic_ns();
  state_.clocks.stop(ClockName::kBackoff);
  state_.own.resume(over);
  if (!state_.call.attempts.empty()) {
    state_.call.attempts.back().stamps.set_once(timeline::AttemptStamp::kResumed,
                                                state_.offset(over));
  }
  co_return !wake.gone;
}

// --- answers of our own ------------------------------------------------------------------------

net::Task<void> Exchange::answer_failure() {
  if (failure_->answer && !state_.answer.head_sent()) {
    const SavedAnswer& saved = *failure_->answer;
    state_.call.outcome = failure_->outcome;
    state_.call.error = {std::string(failure_->error.name()), failure_->error.message};
    state_.answer.mark_relayed();
    const bool written = co_await state_.write_whole(saved.head, saved.body, saved.status);
    if (!written) state_.set_gone();
    co_return;
  }
  co_await answer_error(failure_->error, failure_->outcome);
}

// Tokens are to be counted and no channel does it.
bool Exchange::estimates() const {
  return refused_ == nullptr && candidates_.empty() &&
         state_.route.endpoint == route::Endpoint::kCountTokens;
}

// By the bytes of text and tools, and what an image costs at most: the answer says that it is one.
net::Task<void> Exchange::answer_estimate() {
  const int64_t tokens = state_.input_estimate;
  std::string head, body;
  json::Writer json(body);
  json.begin_object();
  json.field("input_tokens", tokens);
  json.field("estimated", true);
  json.end_object();
  edge::OwnHead own;
  own.framing = {edge::AnswerFraming::Kind::kLength, body.size()};
  own.labels = state_.labels();
  own.keep_alive = state_.client.keep_alive();
  own.server_timing = state_.server_timing();
  edge::append_own_head(head, own);
  state_.call.outcome = Outcome::kOk;
  state_.call.tokens.input = tokens;
  state_.call.tokens.source = timeline::TokenSource::kEstimated;
  const bool written = co_await state_.write_whole(head, body, own.status);
  if (!written) state_.set_gone();
}

net::Task<void> Exchange::reject(const Error& error) {
  const Outcome outcome =
      error.code == ErrorCode::kInternal ? Outcome::kGatewayError : Outcome::kRejected;
  co_await answer_error(error, outcome);
}

net::Task<void> Exchange::answer_error(const Error& error, Outcome outcome) {
  timeline::Call& call = state_.call;
  call.outcome = outcome;
  call.error = {std::string(error.name()), error.message};
  bool written = false;
  if (state_.answer.head_sent()) {
    // A heartbeat has fixed the status: the error goes into the stream, which is left without an
    // end.
    const bool told = failure_ != nullptr && failure_->spoken.has_value();
    const wire::SpokenError spoken = told ? *failure_->spoken : wire::SpokenError(error);
    wire::append_error_event(state_.answer.begin(), call.dialect, spoken, call.id.view(), nullptr);
    state_.answer.end(edge::ClientAnswer::Last::kNo);
    state_.client.break_off();
    written = state_.answer.try_flush();
    if (!written) written = co_await state_.flush();
  } else {
    if (!state_.client.body_complete()) state_.client.end_connection();
    std::string head, body;
    wire::append_error_body(body, call.dialect, error, call.id.view());
    const edge::OwnHead own = state_.error_head(error, body.size());
    edge::append_own_head(head, own);
    written = co_await state_.write_whole(head, body, own.status);
  }
  if (!written) state_.set_gone();
}

}  // namespace hw::gateway
