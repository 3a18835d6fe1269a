#include "gateway/body_relay.h"

#include "base/text.h"
#include "http/coding.h"
#include "json/writer.h"
#include "wire/answer_facts.h"
#include "wire/error_body.h"

namespace hw::gateway {
namespace {

using timeline::AttemptStamp;

bool is_success(int status) {
  return status >= 200 && status < 300;
}

// An upstream status that another channel may not answer with.
bool worth_elsewhere(int status) {
  return status == 429 || status >= 500;
}

}  // namespace

net::Task<Ending> BodyRelay::run() {
  state_.phase = AbortPhase::kBody;
  Progress progress = take(attempt_.first());
  if (progress == Progress::kMore) progress = co_await read_rest();
  switch (progress) {
    case Progress::kFailed:
      co_return Ending::kFailed;
    case Progress::kGone:
      attempt_.settle(Outcome::kClientGone, nullptr);
      co_return Ending::kGone;
    case Progress::kTooLarge:
    case Progress::kComplete:
    case Progress::kMore:
      break;
  }
  if (progress == Progress::kTooLarge && attempt_.translated()) {
    fail(Error(ErrorCode::kUpstreamDialect,
               concat("Channel ", attempt_.channel().options.name, ": an answer of more than ",
                      kHeldMax >> 20, " MiB cannot be translated")),
         Outcome::kUpstreamError);
    co_return Ending::kFailed;
  }
  if (progress == Progress::kTooLarge) {
    const Ending ending = co_await pass_through();
    co_return ending;
  }
  if (!is_success(attempt_.head().status)) {
    attempt_.settle_failed(classify(body()));
    co_return Ending::kFailed;
  }
  if (!judge(body())) co_return Ending::kFailed;
  bool written = false;
  if (body().size() <= edge::ClientAnswer::kSmallBody) {
    written = pass_on_small();
    if (!written) written = co_await state_.flush();
  } else {
    written = co_await pass_on_large();
  }
  state_.call.outcome = written ? Outcome::kOk : Outcome::kClientGone;
  co_return written ? Ending::kServed : Ending::kGone;
}

// --- reading -----------------------------------------------------------------------------------

net::Task<BodyRelay::Progress> BodyRelay::read_rest() {
  attempt_.keep_head();
  Progress progress = Progress::kMore;
  while (progress == Progress::kMore) {
    if (!single_.empty()) {  // the loop's buffer is about to be used by others
      body_.append(single_);
      single_ = {};
    }
    state_.own.pause(monotonic_ns());
    const Received received = co_await attempt_.receive();
    if (received.end == Received::End::kGone) co_return Progress::kGone;
    state_.own.resume(received.at);
    if (received.end == Received::End::kClock) {
      co_return fail(clock_error(received.clock, state_.clocks.limit_ms(received.clock),
                                 attempt_.channel().options.name),
                     Outcome::kTimeout);
    }
    if (received.end != Received::End::kBytes) {
      if (received.end == Received::End::kClosed && attempt_.reader().end_of_input())
        co_return Progress::kComplete;
      co_return fail(Error(ErrorCode::kUpstreamBroken,
                           concat("Channel ", attempt_.channel().options.name,
                                  ": the connection broke before the answer was complete")),
                     Outcome::kUpstreamError);
    }
    state_.note_lateness(received.at);
    state_.clocks.start(ClockName::kSilence, received.at,
                        attempt_.channel().options.timeouts.silence_ms.value_or(
                            state_.settings->options.timeouts.silence_ms));
    attempt_.stamp(AttemptStamp::kFirstByte, received.at);
    progress = take(received.bytes);
  }
  co_return progress;
}

BodyRelay::Progress BodyRelay::take(std::string_view bytes) {
  if (!bytes.empty()) attempt_.stamp(AttemptStamp::kFirstByte, attempt_.first_at());
  http::ResponseHead none;
  do {
    const Result<http::ResponseReader::Step> step = attempt_.reader().next(bytes, none);
    if (!step) {
      return fail(
          Error(ErrorCode::kUpstreamProtocol,
                concat("Channel ", attempt_.channel().options.name, ": ", step.error().message)),
          Outcome::kUpstreamError);
    }
    if (step->kind == http::ResponseReader::Kind::kEnd) {
      if (!bytes.empty()) attempt_.spoil();
      return Progress::kComplete;
    }
    if (step->kind != http::ResponseReader::Kind::kBody) continue;
    if (body_.empty() && single_.empty()) {
      single_ = step->body;
    } else {
      if (!single_.empty()) body_.append(single_);
      single_ = {};
      body_.append(step->body);
    }
    if (body_.size() > kHeldMax) {
      single_ = {};
      return Progress::kTooLarge;
    }
    // The end of a body of known length is known without another byte.
  } while (!bytes.empty() || attempt_.reader().body_exhausted());
  return Progress::kMore;
}

BodyRelay::Progress BodyRelay::fail(Error error, Outcome outcome) {
  Failure failure;
  failure.elsewhere = error.code != ErrorCode::kTimeoutTotal;
  failure.error = std::move(error);
  failure.outcome = outcome;
  attempt_.settle_failed(std::move(failure));
  return Progress::kFailed;
}

Status BodyRelay::decode(std::string_view coded, std::string& plain) {
  const std::string_view coding = attempt_.head().fields.value("content-encoding");
  Result<http::Decoder> decoder = http::Decoder::make(coding, ErrorCode::kUpstreamProtocol);
  if (!decoder) return hw::fail(decoder.error());
  if (const Status done = decoder->decode(coded, plain, kHeldMax); !done) return done;
  return decoder->finish();
}

// --- a success ---------------------------------------------------------------------------------

// Whether the body is an answer of the dialect; keeps its facts. False: the attempt is settled as
// failed.
bool BodyRelay::judge(std::string_view body) {
  std::string plain, wrong;
  if (attempt_.head().fields.find("content-encoding") != nullptr) {
    if (const Status decoded = decode(body, plain); !decoded) wrong = decoded.error().message;
    body = plain;
  }
  if (attempt_.endpoint() == route::Endpoint::kTokenize) {
    if (wrong.empty()) take_count(body, wrong);
    return !is_wrong(wrong);
  }
  if (wrong.empty()) keep_facts(body, wrong);
  if (wrong.empty() && state_.wants_stream()) {
    wrong = "the request asked for a stream and the upstream answered with one JSON body";
  }
  if (wrong.empty() && attempt_.translated()) {
    translate(body, wrong);
  }
  return !is_wrong(wrong);
}

// Settles the attempt as failed where something is wrong with the answer.
bool BodyRelay::is_wrong(std::string_view wrong) {
  if (wrong.empty()) return false;
  fail(Error(ErrorCode::kUpstreamDialect,
             concat("Channel ", attempt_.channel().options.name, ": ", wrong)),
       Outcome::kUpstreamError);
  return true;
}

// Puts the count that an instance's tokenizer made into the answer that the client expects.
void BodyRelay::take_count(std::string_view plain, std::string& wrong) {
  const Result<int64_t> count = wire::read_token_count(plain);
  if (!count) {
    wrong = count.error().message;
    return;
  }
  state_.call.tokens.input = *count;
  state_.call.tokens.source = timeline::TokenSource::kUsage;
  std::string said;
  json::Writer json(said);
  json.begin_object();
  json.field("input_tokens", *count);
  json.end_object();
  put(said);
}

// Puts the client's answer in the place of the upstream's.
void BodyRelay::put(std::string_view said) {
  single_ = {};
  body_.clear(LoopContext::kReadBytes);
  body_.append(said);
}

void BodyRelay::translate(std::string_view plain, std::string& wrong) {
  std::string said;
  const Status done = state_.translation->append_answer(plain, said);
  if (!done) {
    wrong = done.error().message;
    return;
  }
  state_.note_lossy();
  put(said);
}

void BodyRelay::compose_head(std::string& out) {
  edge::RelayedHead head{
      .upstream = attempt_.head(),
      .status = attempt_.head().status,
      .coding = attempt_.translated() ? edge::AnswerCoding::kDecoded : edge::AnswerCoding::kAsSent,
      .framing = {edge::AnswerFraming::Kind::kLength, body().size()},
      .labels = state_.labels(),
      .keep_alive = state_.client.keep_alive(),
      .server_timing = state_.server_timing()};
  edge::append_relayed_head(out, head);
}

// The upstream has done its part: its connection may serve others while the client reads.
void BodyRelay::upstream_is_done() {
  attempt_.channel().health->mark_good();
  attempt_.settle(Outcome::kOk, nullptr);
  state_.answer.mark_relayed();
}

// Composed in the loop's buffer and mostly taken by the kernel at once; else flush() is to follow.
bool BodyRelay::pass_on_small() {
  std::string& out = state_.answer.begin_whole(attempt_.head().status);
  compose_head(out);
  out += body();
  upstream_is_done();
  return state_.answer.try_flush();
}

net::Task<bool> BodyRelay::pass_on_large() {
  std::string head;
  compose_head(head);
  const int status = attempt_.head().status;
  if (!single_.empty()) {  // out of the loop's buffer, which others use while this waits
    body_.append(single_);
    single_ = {};
  }
  upstream_is_done();
  const bool written = co_await state_.write_whole(head, body(), status);
  co_return written;
}

void BodyRelay::keep_facts(std::string_view plain, std::string& wrong) {
  const Result<wire::AnswerFacts> facts = wire::scan_answer(attempt_.dialect(), plain);
  if (!facts) {
    wrong = facts.error().message;
    return;
  }
  timeline::Call& call = state_.call;
  call.finish_reason = facts->finish_reason;
  if (facts->usage.told) {
    call.tokens = {
        facts->usage.input,  facts->usage.cached_input, facts->usage.cache_creation_input,
        facts->usage.output, facts->usage.reasoning,    timeline::TokenSource::kUsage};
  } else {
    call.tokens.input = state_.input_estimate;
    call.tokens.output = wire::estimated_tokens(facts->output_bytes);
    call.tokens.source = timeline::TokenSource::kEstimated;
  }
  const wire::EngineTimes times = wire::merge_engine_times(attempt_.header_times(), facts->engine);
  call.engine = {std::string(times.source), times.queue_ns,  times.prefill_ns,
                 times.kv_transfer_ns,      times.decode_ns, times.first_token_ns,
                 times.cached_tokens};
}

// --- an error ----------------------------------------------------------------------------------

Failure BodyRelay::classify(std::string_view body) {
  const int status = attempt_.head().status;
  const std::string& name = attempt_.channel().options.name;
  std::string plain;
  std::string_view readable = body;
  if (attempt_.head().fields.find("content-encoding") != nullptr) {
    if (decode(body, plain)) readable = plain;
  }
  const wire::UpstreamErrorBody said =
      wire::read_error_body(attempt_.channel().options.family, readable);
  const std::string words =
      said.shape == wire::ErrorShape::kNone ? wire::excerpt(readable) : said.words.message;
  route::Health& health = *attempt_.channel().health;
  Failure out;
  if (status == 401 || status == 403) {
    health.mark_credential(monotonic_ns(), status);
    out.error = Error(ErrorCode::kChannelCredential,
                      concat("Channel ", name, ": the upstream refused the channel's credential (",
                             status, "). Your key is fine; the operator has to mend the channel"),
                      words);
    return out;
  }
  out.elsewhere = worth_elsewhere(status) || status < 400;
  const bool upstreams = out.elsewhere || status == 408;
  out.outcome = upstreams ? Outcome::kUpstreamError : Outcome::kClientError;
  const Nanos wait = edge::retry_after_ns(attempt_.head().fields, wall_ns());
  if (wait > 0 && worth_elsewhere(status)) health.cool_down(monotonic_ns(), wait, status);
  out.error = Error(status < 400 ? ErrorCode::kUpstreamDialect : ErrorCode::kUpstreamError,
                    concat("Channel ", name, " answered ", status, ": ", words));
  const Family family = attempt_.channel().options.family;
  if (said.shape == wire::ErrorShape::kFamily && status >= 400) {
    out.spoken = wire::SpokenError(family, status, said.words);
    out.answer = attempt_.translated() ? replaced(status, *out.spoken) : as_it_is(body);
  } else {
    out.spoken = wire::SpokenError(family, status < 400 ? 502 : status,
                                   wire::ErrorWords{.message = out.error.message});
    out.spoken->code = out.error.name();
    out.answer = replaced(status < 400 ? 502 : status, *out.spoken);
  }
  return out;
}

SavedAnswer BodyRelay::as_it_is(std::string_view body) {
  SavedAnswer out;
  edge::RelayedHead head{.upstream = attempt_.head(),
                         .status = attempt_.head().status,
                         .framing = {edge::AnswerFraming::Kind::kLength, body.size()},
                         .labels = state_.labels(),
                         .keep_alive = state_.client.keep_alive(),
                         .server_timing = state_.server_timing()};
  edge::append_relayed_head(out.head, head);
  out.body = body;
  out.status = attempt_.head().status;
  return out;
}

// A body that the client's SDK cannot read: the same status with a body that it can.
SavedAnswer BodyRelay::replaced(int status, const wire::SpokenError& error) {
  SavedAnswer out;
  out.status = status;
  wire::append_error_body(out.body, state_.call.dialect, error, state_.call.id.view());
  edge::OwnHead head;
  head.status = status;
  head.framing = {edge::AnswerFraming::Kind::kLength, out.body.size()};
  head.labels = state_.labels();
  head.keep_alive = state_.client.keep_alive();
  constexpr Nanos kRetryAfterMax = 86'400 * kSecond;
  const Nanos wait = edge::retry_after_ns(attempt_.head().fields, wall_ns());
  if (wait > 0 && wait < kRetryAfterMax)
    head.retry_after_s = static_cast<int>((wait + kSecond - 1) / kSecond);
  head.server_timing = state_.server_timing();
  edge::append_own_head(out.head, head);
  return out;
}

// --- an answer too large to hold ----------------------------------------------------------------

// The length or the missing last chunk tells the client that the answer is incomplete.
void BodyRelay::end_unfinished(const Received& received, Progress progress) {
  state_.client.break_off();
  const std::string& channel = attempt_.channel().options.name;
  const bool late = received.end == Received::End::kClock;
  const Outcome outcome = late ? Outcome::kTimeout : Outcome::kUpstreamError;
  if (progress != Progress::kFailed) {
    const Error broken =
        late ? clock_error(received.clock, state_.clocks.limit_ms(received.clock), channel)
             : Error(ErrorCode::kUpstreamBroken,
                     concat("Channel ", channel,
                            ": the connection broke in the middle of the answer"));
    attempt_.settle(outcome, &broken);
  }
  state_.call.outcome = outcome;
  state_.call.error = attempt_.record().error;
}

net::Task<Ending> BodyRelay::pass_through() {
  std::string text;
  edge::RelayedHead head{
      .upstream = attempt_.head(),
      .status = attempt_.head().status,
      .framing = {state_.client.http_1_0() ? edge::AnswerFraming::Kind::kUntilClose
                                           : edge::AnswerFraming::Kind::kChunked,
                  0},
      .labels = state_.labels(),
      .keep_alive = state_.client.keep_alive() && !state_.client.http_1_0()};
  edge::append_relayed_head(text, head);
  state_.answer.hold_head(std::move(text), attempt_.head().status);
  bool complete = false;
  for (;;) {
    state_.answer.begin().append(body_.view());
    state_.answer.end(complete ? edge::ClientAnswer::Last::kYes : edge::ClientAnswer::Last::kNo);
    state_.answer.mark_relayed();
    body_.clear(LoopContext::kReadBytes);
    bool written = state_.answer.try_flush();
    if (!written) written = co_await state_.flush();
    if (!written) break;
    if (complete) {
      state_.call.outcome =
          is_success(attempt_.head().status) ? Outcome::kOk : Outcome::kUpstreamError;
      attempt_.settle(state_.call.outcome, nullptr);
      co_return Ending::kServed;
    }
    state_.own.pause(monotonic_ns());
    const Received received = co_await attempt_.receive();
    state_.own.resume(received.at);
    state_.clocks.restart(ClockName::kSilence, received.at);
    if (received.end == Received::End::kGone) break;
    if (received.end == Received::End::kClosed) complete = attempt_.reader().end_of_input();
    const bool bytes = received.end == Received::End::kBytes;
    const Progress progress = bytes ? take(received.bytes) : Progress::kMore;
    if (!single_.empty()) body_.append(single_);
    single_ = {};
    complete = complete || progress == Progress::kComplete;
    if (complete || (bytes && progress != Progress::kFailed)) continue;
    end_unfinished(received, progress);
    co_return Ending::kServed;
  }
  attempt_.settle(Outcome::kClientGone, nullptr);
  co_return Ending::kGone;
}

}  // namespace hw::gateway
