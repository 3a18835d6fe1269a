#include "gateway/stream_relay.h"

#include <utility>

#include "base/text.h"
#include "wire/error_body.h"

namespace hw::gateway {
namespace {

using timeline::AttemptStamp;

// Decoded bytes of one read; more is a bomb, since a read has 64 KiB.
constexpr size_t kDecodedMax = 16 << 20;

edge::Hide hide(const Attempt& attempt) {
  return attempt.usage_injected() ? edge::Hide::kUsageChunks : edge::Hide::kNothing;
}

}  // namespace

StreamRelay::StreamRelay(ExchangeState& state, Attempt& attempt)
    : state_(state),
      attempt_(attempt),
      observer_(attempt.dialect()),
      gate_(hide(attempt)),
      series_(state.context.metrics.latency(*state.series, attempt.channel().options.name)) {}

net::Task<Ending> StreamRelay::run() {
  Left left = begin();
  while (left != Left::kEnding) {
    if (left == Left::kRest) {
      const bool written = co_await write_rest();
      if (!written) co_return end_gone();
      left = passed_on();
      continue;
    }
    received_ = attempt_.read_on();
    if (received_.end == Received::End::kNothing) {
      attempt_.set_pump(this);
      const Wake wake = co_await attempt_.readable();
      attempt_.set_pump(nullptr);
      left = after_wait(wake);
    } else {
      left = take_read();
    }
  }
  const Ending ending = co_await end();
  co_return ending;
}

// Takes the answer's head and what came behind it.
StreamRelay::Left StreamRelay::begin() {
  state_.phase = AbortPhase::kStream;
  const std::string_view coding = attempt_.head().fields.value("content-encoding");
  if (!coding.empty()) {
    Result<http::Decoder> made = http::Decoder::make(coding, ErrorCode::kUpstreamProtocol);
    if (made && !made->is_identity()) decoder_.emplace(std::move(*made));
  }
  hold_head();
  attempt_.drop_head();
  if (attempt_.translated()) translator_ = state_.translation->make_stream();
  state_.answer.set_stream(this);
  progress_ = take(attempt_.first(), attempt_.first_at());
  return pass_on();
}

// Passes on what can be read while the coroutine waits.
bool StreamRelay::pump() {
  received_ = attempt_.read_now();
  Left left = take_read();
  while (left == Left::kNothing) {
    received_ = attempt_.read_on();
    if (received_.end == Received::End::kNothing) {
      attempt_.want_more();
      state_.client.deadline().set(state_.clocks.next());
      return true;
    }
    left = take_read();
  }
  pumped_ = left;
  return false;
}

StreamRelay::Left StreamRelay::after_wait(const Wake& wake) {
  const std::optional<Left> pumped = std::exchange(pumped_, std::nullopt);
  if (pumped && !wake.gone) return *pumped;
  received_ = attempt_.read_on(wake);
  return take_read();
}

StreamRelay::Left StreamRelay::take_read() {
  if (received_.end == Received::End::kNothing) return Left::kNothing;
  if (received_.end == Received::End::kGone) return Left::kEnding;
  state_.own.resume(received_.at);
  if (received_.end != Received::End::kBytes) return Left::kEnding;
  state_.note_lateness(received_.at);
  progress_ = take(received_.bytes, received_.at);
  return pass_on();
}

StreamRelay::Left StreamRelay::pass_on() {
  return try_write_out() ? passed_on() : Left::kRest;
}

StreamRelay::Left StreamRelay::passed_on() {
  if (progress_ != Progress::kMore) return Left::kEnding;
  state_.own.pause(monotonic_ns());
  return Left::kNothing;
}

// By what the last read brought.
net::Task<Ending> StreamRelay::end() {
  const std::string& channel = attempt_.channel().options.name;
  Outcome outcome = Outcome::kUpstreamError;
  bool well = false;
  switch (received_.end) {
    case Received::End::kGone:
      co_return end_gone();
    case Received::End::kClock:
      well = observer_.finished();
      outcome = Outcome::kTimeout;
      broken_ = std::make_unique<Error>(
          clock_error(received_.clock, state_.clocks.limit_ms(received_.clock), channel));
      break;
    case Received::End::kClosed:
    case Received::End::kBroken:
      well = (received_.end == Received::End::kClosed && attempt_.reader().end_of_input()) ||
             observer_.finished() || observer_.error_seen();  // which the client has been told
      broken_ = std::make_unique<Error>(
          ErrorCode::kUpstreamBroken,
          concat("Channel ", channel, ": the connection broke in the middle of the stream"));
      break;
    case Received::End::kBytes:
    case Received::End::kNothing:
      well = progress_ == Progress::kComplete;
      break;
  }
  Ending ending = Ending::kGone;
  if (well) {
    ending = co_await end_well();
  } else {
    ending = co_await end_broken(std::move(*broken_), outcome);
  }
  co_return ending;
}

void StreamRelay::hold_head() {
  std::string text;
  edge::RelayedHead head{
      .upstream = attempt_.head(),
      .status = attempt_.head().status,
      .kind = edge::AnswerKind::kEventStream,
      .coding = decoder_ ? edge::AnswerCoding::kDecoded : edge::AnswerCoding::kAsSent,
      .framing = {state_.client.http_1_0() ? edge::AnswerFraming::Kind::kUntilClose
                                           : edge::AnswerFraming::Kind::kChunked,
                  0},
      .labels = state_.labels(),
      .keep_alive = state_.client.keep_alive() && !state_.client.http_1_0()};
  edge::append_relayed_head(text, head);
  state_.answer.hold_head(std::move(text), attempt_.head().status);
}

// Takes what one read brought; what of it is for the client is then composed in the loop's buffer.
StreamRelay::Progress StreamRelay::take(std::string_view bytes, Nanos now) {
  state_.clocks.start(ClockName::kSilence, now,
                      attempt_.channel().options.timeouts.silence_ms.value_or(
                          state_.settings->options.timeouts.silence_ms));
  // A head on its own is not passed on: until a byte of the body is, another channel may take over.
  if (bytes.empty() && attempt_.reader().done()) return Progress::kComplete;
  http::ResponseHead no_trailer_head;
  Progress progress = Progress::kMore;
  do {
    const Result<http::ResponseReader::Step> step = attempt_.reader().next(bytes, no_trailer_head);
    if (!step) {
      broken_ = std::make_unique<Error>(
          ErrorCode::kUpstreamProtocol,
          concat("Channel ", attempt_.channel().options.name, ": ", step.error().message));
      progress = Progress::kBroken;
      break;
    }
    if (step->kind == http::ResponseReader::Kind::kBody) {
      const Status taken = take_body(step->body, now);
      if (taken) continue;
      broken_ = std::make_unique<Error>(taken.error());
      progress = Progress::kBroken;
      break;
    }
    if (step->kind == http::ResponseReader::Kind::kEnd) {
      if (!bytes.empty()) attempt_.spoil();
      progress = Progress::kComplete;
      break;
    }
  } while (!bytes.empty() || attempt_.reader().body_exhausted());
  return progress;
}

Status StreamRelay::take_body(std::string_view piece, Nanos now) {
  attempt_.stamp(AttemptStamp::kFirstByte, now);
  std::string decoded;
  if (decoder_) {
    if (const Status done = decoder_->decode(piece, decoded, kDecodedMax); !done) return done;
    piece = decoded;
  }
  const Result<std::span<const wire::EventFacts>> events = observer_.feed(piece);
  if (!events) return fail(events.error());
  for (const wire::EventFacts& event : *events) observe(event, now);
  if (translator_ != nullptr) return translate(piece);
  const std::string_view visible = gate_.feed(piece, *events, state_.context.scratch);
  if (!visible.empty()) compose().append(visible);
  return {};
}

// What an event says is known at once, but not every event says something to the client.
Status StreamRelay::translate(std::string_view piece) {
  std::string& said = state_.context.scratch;
  said.clear();
  const Status taken = translator_->feed(piece, said);
  if (!said.empty()) compose().append(said);
  return taken;
}

// Where to append what the client is sent with the next write.
std::string& StreamRelay::compose() {
  std::string& out = composed_ ? state_.context.out : state_.answer.begin();
  composed_ = true;
  return out;
}

// What is still to be said of a complete answer.
void StreamRelay::append_end(std::string& out) {
  if (translator_ != nullptr) {
    translator_->end(out);
  } else {
    out.append(gate_.held());
  }
}

void StreamRelay::append_heartbeat(std::string& out) {
  if (translator_ != nullptr) {
    translator_->heartbeat(out);
  } else {
    wire::append_heartbeat(out, state_.call.dialect, &observer_);
  }
}

void StreamRelay::observe(const wire::EventFacts& event, Nanos now) {
  attempt_.stamp(AttemptStamp::kFirstFrame, now);
  if (event.token) observe_token(event, now);
  if (event.terminal || event.error) attempt_.stamp(AttemptStamp::kTerminal, now);
}

void StreamRelay::observe_token(const wire::EventFacts& event, Nanos now) {
  const Nanos at = state_.offset(now);
  attempt_.stamp(AttemptStamp::kFirstToken, now);
  if (event.channel != wire::TokenChannel::kReasoning)
    attempt_.stamp(AttemptStamp::kFirstVisible, now);
  attempt_.record().stamps.move_to(AttemptStamp::kLastToken, at);
  const Nanos blocked = state_.client.blocked_ns();
  const timeline::TokenTimes::Added added =
      state_.token_times.add(at, blocked - blocked_at_last_token_, state_.context.loop.late(now));
  blocked_at_last_token_ = blocked;
  state_.clocks.stop(ClockName::kFirstToken);
  state_.clocks.start(ClockName::kBetweenTokens, now,
                      attempt_.channel().options.timeouts.between_tokens_ms.value_or(
                          state_.settings->options.timeouts.between_tokens_ms));
  if (!added.first) series_.tbt.record(added.gap.length);
}

// Writes what take() composed; true as well when there was nothing. False: write_rest() is to
// follow.
bool StreamRelay::try_write_out() {
  if (!composed_) return !state_.client.gone();
  composed_ = false;
  const bool complete =
      attempt_.reader().done() && (observer_.finished() || observer_.error_seen());
  if (complete) append_end(state_.context.out);
  state_.answer.end(complete ? edge::ClientAnswer::Last::kYes : edge::ClientAnswer::Last::kNo);
  if (!state_.answer.relayed()) state_.drop_request();
  state_.answer.mark_relayed();
  state_.clocks.start(ClockName::kHeartbeat, state_.context.loop.now(),
                      state_.settings->options.keepalive_ms);
  return state_.answer.try_flush();
}

net::Task<bool> StreamRelay::write_rest() {
  state_.own.pause(monotonic_ns());
  const bool written = co_await state_.answer.flush();
  const Nanos taken = monotonic_ns();
  state_.own.resume(taken);
  // The upstream was not read meanwhile: its silence begins now.
  state_.clocks.restart(ClockName::kSilence, taken);
  state_.clocks.restart(ClockName::kBetweenTokens, taken);
  state_.clocks.restart(ClockName::kFirstToken, taken);
  co_return written;
}

Error StreamRelay::unfinished() const {
  return Error(
      ErrorCode::kUpstreamUnfinished,
      concat("Channel ", attempt_.channel().options.name,
             ": the upstream ended the stream without its final event; the answer is incomplete"));
}

// The framing has ended, or the dialect's final event was seen and the connection is gone.
net::Task<Ending> StreamRelay::end_well() {
  if (!observer_.finished() && !observer_.error_seen()) {
    const Ending ending = co_await end_broken(unfinished(), Outcome::kUpstreamError);
    co_return ending;
  }
  if (!state_.answer.ended()) {
    append_end(state_.answer.begin());
    state_.answer.end(edge::ClientAnswer::Last::kYes);
    state_.answer.mark_relayed();
    bool written = state_.answer.try_flush();
    if (!written) written = co_await state_.answer.flush();
    if (!written) co_return end_gone();
  }
  keep_facts();
  if (!observer_.error_seen()) {
    attempt_.settle(Outcome::kOk, nullptr);
    state_.call.outcome = Outcome::kOk;
    co_return Ending::kServed;
  }
  const wire::ErrorWords& words = observer_.error_words();
  const Error told(ErrorCode::kUpstreamError,
                   concat("Channel ", attempt_.channel().options.name, ": ",
                          words.message.empty() ? words.type : words.message));
  attempt_.settle(Outcome::kUpstreamError, &told);
  state_.call.outcome = Outcome::kUpstreamError;
  state_.call.error = attempt_.record().error;
  co_return Ending::kServed;
}

// Nothing relayed yet: another channel may try. Otherwise the client is told in its dialect, and
// the body is left without its end.
net::Task<Ending> StreamRelay::end_broken(Error error, Outcome outcome) {
  if (!state_.answer.relayed()) {
    Failure failure;
    failure.elsewhere = error.code != ErrorCode::kTimeoutTotal;
    failure.error = std::move(error);
    failure.outcome = outcome;
    attempt_.settle_failed(std::move(failure));
    co_return Ending::kFailed;
  }
  keep_facts();
  std::string& out = state_.answer.begin();
  if (translator_ != nullptr) {
    translator_->fail(error, out);
  } else {
    if (!gate_.at_boundary()) out += "\n\n";
    wire::append_error_event(out, state_.call.dialect, error, state_.call.id.view(), &observer_);
  }
  state_.answer.end(edge::ClientAnswer::Last::kNo);
  state_.client.break_off();
  bool written = state_.answer.try_flush();
  if (!written) written = co_await state_.answer.flush();
  attempt_.settle(outcome, &error);
  state_.call.outcome = written ? outcome : Outcome::kClientGone;
  state_.call.error = attempt_.record().error;
  co_return written ? Ending::kServed : Ending::kGone;
}

Ending StreamRelay::end_gone() {
  keep_facts();
  attempt_.settle(Outcome::kClientGone, nullptr);
  return Ending::kGone;
}

void StreamRelay::keep_facts() {
  timeline::Call& call = state_.call;
  if (translator_ != nullptr) state_.note_lossy();
  const wire::Usage usage = observer_.usage();
  call.finish_reason = observer_.finish_reason();
  if (usage.told) {
    call.tokens = {usage.input,  usage.cached_input, usage.cache_creation_input,
                   usage.output, usage.reasoning,    timeline::TokenSource::kUsage};
  } else {
    call.tokens.input = state_.input_estimate;
    call.tokens.output = wire::estimated_tokens(observer_.output_bytes());
    call.tokens.source = timeline::TokenSource::kEstimated;
  }
  const wire::EngineTimes times =
      wire::merge_engine_times(attempt_.header_times(), observer_.engine());
  call.engine = {std::string(times.source), times.queue_ns,  times.prefill_ns,
                 times.kv_transfer_ns,      times.decode_ns, times.first_token_ns,
                 times.cached_tokens};
}

}  // namespace hw::gateway
