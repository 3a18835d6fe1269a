#include "sampler/answer_recorder.h"

#include "base/text.h"
#include "wire/answer_facts.h"
#include "wire/upstream_error.h"

namespace hw::sampler {

using runs::RequestOutcome;
namespace {

// Of an answer that is no stream; the largest whole answers of 100,000 tokens fit.
constexpr size_t kBodyBytesMax = 4u << 20;
constexpr std::string_view kMethod = "POST";
constexpr http::HeadLimits kHeadLimits;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

runs::TokenChannel channel_of(wire::TokenChannel channel) {
  switch (channel) {
    case wire::TokenChannel::kContent:
      return runs::TokenChannel::kContent;
    case wire::TokenChannel::kReasoning:
      return runs::TokenChannel::kReasoning;
    case wire::TokenChannel::kTool:
      return runs::TokenChannel::kTool;
    case wire::TokenChannel::kRefusal:
      return runs::TokenChannel::kRefusal;
  }
  return runs::TokenChannel::kContent;
}

// The short word of an error, for counting: its type, else its code.
std::string class_of(const wire::ErrorWords& words) {
  if (!words.type.empty()) return words.type;
  return words.code.empty() ? "in_band" : words.code;
}

std::optional<Nanos> told(int64_t nanos) {
  return nanos < 0 ? std::optional<Nanos>() : nanos;
}

}  // namespace

AnswerRecorder::AnswerRecorder(Dialect dialect, Delivery delivery, runs::Record& record,
                               http::ResponseHead& head)
    : dialect_(dialect),
      delivery_(delivery),
      record_(record),
      head_(head),
      reader_(kHeadLimits, kMethod),
      observer_(dialect) {}

bool AnswerRecorder::take(std::string_view rest, Nanos at) {
  using Kind = http::ResponseReader::Kind;
  begun_ = true;
  tokens_before_ = record_.tokens.size();
  tokens_in_read_ = 0;
  bool going = true;
  while (going) {
    const Result<http::ResponseReader::Step> step = reader_.next(rest, head_);
    if (!step.has_value()) {
      fault_ = record_.status ? "framing" : "not_http";
      going = false;
      break;
    }
    if (step->kind == Kind::kMore) break;
    if (step->kind == Kind::kHead) take_head(at);
    if (step->kind == Kind::kBody) going = take_body(step->body, at);
    if (step->kind == Kind::kEnd) going = false;
  }
  close_read();
  broken_ = broken_ || !fault_.empty();
  return going;
}

void AnswerRecorder::take_head(Nanos at) {
  record_.t_hdr = at;
  record_.status = head_.status;
  const http::Fields& fields = head_.fields;
  for (const http::Field& field : fields) {
    wire::read_engine_header(field.name, field.value, header_times_);
  }
  const std::string_view id = fields.value("x-request-id");
  from_headway_ = fields.find("x-headway-trace-id") != nullptr && !id.empty();
  if (from_headway_) record_.id = std::string(id);
  const std::string_view coding = fields.value("content-encoding");
  const std::string_view type = fields.value("content-type");
  said_events_ = contains(type, "event-stream");
  const bool other = contains(type, "json") || contains(type, "html");
  const bool good = head_.status >= 200 && head_.status < 300;
  if (!coding.empty() && !equal_ignoring_case(coding, "identity")) {
    kind_ = Body::kEncoded;
  } else if (good && delivery_ == Delivery::kStreamed && !other) {
    kind_ = Body::kEvents;
  }
}

bool AnswerRecorder::take_body(std::string_view piece, Nanos at) {
  if (piece.empty()) return true;
  if (!body_begun_) record_.t_rx0 = at;
  body_begun_ = true;
  if (kind_ == Body::kEncoded) return true;
  if (kind_ == Body::kWhole || observer_.events() == 0) {
    body_cut_ = body_cut_ || body_.size() + piece.size() > kBodyBytesMax;
    body_.append(piece.substr(0, kBodyBytesMax - body_.size()));
  }
  if (kind_ == Body::kWhole) return true;
  const auto events = observer_.feed(piece);
  if (!events.has_value()) {
    fault_ = "event_too_large";
    return false;
  }
  for (const wire::EventFacts& fact : *events) take_facts(fact, at);
  if (!events->empty()) {
    release(body_);
    look_at_state(at);
  }
  return true;
}

void AnswerRecorder::take_facts(const wire::EventFacts& fact, Nanos at) {
  if (!record_.t_frame) record_.t_frame = at;
  if (fact.terminal && !record_.t_done) record_.t_done = at;
  if (!fact.token) return;
  ++tokens_in_read_;
  reasoning_seen_ = reasoning_seen_ || fact.channel == wire::TokenChannel::kReasoning;
  record_.tokens.push_back({at, channel_of(fact.channel), fact.text_bytes, 1});
}

// What only the stream as a whole tells.
void AnswerRecorder::look_at_state(Nanos at) {
  const wire::Usage& usage = observer_.usage();
  if (!usage.told || usage == usage_seen_) return;
  usage_seen_ = usage;
  record_.t_usage = at;
}

// How many tokens came together is known when the read has been gone through.
void AnswerRecorder::close_read() {
  for (size_t i = tokens_before_; i < record_.tokens.size(); ++i) {
    record_.tokens[i].events_in_read = tokens_in_read_;
  }
}

void AnswerRecorder::finish(AnswerEnd end, std::string_view limit, Nanos at) {
  record_.t_close = at;
  if (end == AnswerEnd::kClosed && reader_.head_seen() && !reader_.done() &&
      reader_.end_of_input()) {
    end = AnswerEnd::kComplete;
  }
  conclude(end, limit);
  if (record_.outcome != RequestOutcome::kOk) return;
  record_.error_class.clear();
}

void AnswerRecorder::conclude(AnswerEnd end, std::string_view limit) {
  if (!record_.status) return conclude_without_head(end, limit);
  if (kind_ == Body::kEncoded) return set(RequestOutcome::kProtocolError, "encoded");
  if (kind_ == Body::kEvents) return conclude_stream(end, limit);
  if (*record_.status >= 300) {
    words_ = wire::read_error_body(family_of(dialect_), body_).words;
    const bool limited = *record_.status == 429;
    return set(limited ? RequestOutcome::kRateLimited : RequestOutcome::kHttpError,
               concat("http_", *record_.status));
  }
  if (end != AnswerEnd::kComplete) return conclude_interrupted(end, limit);
  conclude_whole();
}

void AnswerRecorder::conclude_without_head(AnswerEnd end, std::string_view limit) {
  if (!fault_.empty()) return set(RequestOutcome::kProtocolError, fault_);
  if (end == AnswerEnd::kTimeout) return set(RequestOutcome::kTimeout, limit);
  if (end == AnswerEnd::kCancelled) return set(RequestOutcome::kCancelled, "");
  if (begun_) return set(RequestOutcome::kProtocolError, "not_http");
  set(RequestOutcome::kConnectError, end == AnswerEnd::kReset ? "reset" : "closed");
}

void AnswerRecorder::conclude_interrupted(AnswerEnd end, std::string_view limit) {
  if (!fault_.empty()) return set(RequestOutcome::kProtocolError, fault_);
  switch (end) {
    case AnswerEnd::kTimeout:
      return set(RequestOutcome::kTimeout, limit);
    case AnswerEnd::kCancelled:
      return set(RequestOutcome::kCancelled, "");
    case AnswerEnd::kComplete:
    case AnswerEnd::kClosed:
      return set(RequestOutcome::kStreamError, "truncated");
    case AnswerEnd::kReset:
      mark("reset");
      return set(RequestOutcome::kStreamError, "truncated");
  }
}

// An event without its blank line is none; but a last word in it is heard.
void AnswerRecorder::look_into_rest() {
  if (observer_.finished() || observer_.error_seen() || observer_.at_boundary()) return;
  if (!fault_.empty()) return;
  const auto events = observer_.feed("\n\n");
  if (!events.has_value() || events->empty()) return;
  mark("unfinished_event");
  for (const wire::EventFacts& fact : *events) {
    if (fact.terminal && !record_.t_done) record_.t_done = record_.t_close;
  }
}

void AnswerRecorder::conclude_stream(AnswerEnd end, std::string_view limit) {
  const bool no_events = observer_.events() == 0;
  if (no_events && !body_begun_ && end == AnswerEnd::kComplete) {
    return set(RequestOutcome::kEmpty, "no_body");
  }
  const bool plain = no_events && !said_events_ && !observer_.at_boundary();
  if (plain && end == AnswerEnd::kComplete) {
    return set(RequestOutcome::kProtocolError, "not_a_stream");
  }
  if (end != AnswerEnd::kTimeout && end != AnswerEnd::kCancelled) look_into_rest();
  take_usage(observer_.usage());
  take_engine(observer_.engine());
  record_.finish_reason = observer_.finish_reason();
  if (observer_.error_seen()) {
    words_ = observer_.error_words();
    return set(RequestOutcome::kStreamError, class_of(words_));
  }
  if (!observer_.finished()) return conclude_interrupted(end, limit);
  if (!observer_.terminal_seen()) mark("no_done");
  if (end != AnswerEnd::kComplete) mark("unclean_end");
  if (record_.tokens.empty()) return set(RequestOutcome::kEmpty, "no_token");
  set(RequestOutcome::kOk, "");
}

void AnswerRecorder::conclude_whole() {
  if (body_.empty()) return set(RequestOutcome::kEmpty, "no_body");
  const Result<wire::AnswerFacts> facts = wire::scan_answer(dialect_, body_);
  if (body_cut_ || !facts.has_value()) return set(RequestOutcome::kProtocolError, "not_json");
  if (facts->error) {
    words_ = facts->error_words;
    return set(RequestOutcome::kStreamError, class_of(words_));
  }
  if (!facts->has_answer) return set(RequestOutcome::kProtocolError, "not_an_answer");
  if (delivery_ == Delivery::kStreamed) {
    return set(RequestOutcome::kProtocolError, "not_a_stream");
  }
  take_usage(facts->usage);
  take_engine(facts->engine);
  record_.finish_reason = facts->finish_reason;
  record_.t_done = record_.t_close;
  if (facts->output_bytes == 0) return set(RequestOutcome::kEmpty, "no_token");
  set(RequestOutcome::kOk, "");
}

void AnswerRecorder::take_usage(const wire::Usage& usage) {
  const auto chunks = static_cast<int64_t>(record_.tokens.size());
  if (usage.told) {
    record_.n_in = usage.input;
    record_.cached_tokens = usage.cached_input;
    if (usage.reasoning > usage.output || (usage.output <= 0 && chunks > 0)) mark("usage_odd");
    if (usage.reasoning > 0 && !reasoning_seen_ && delivery_ == Delivery::kStreamed) {
      mark("reasoning_hidden");
    }
  }
  if (usage.told && usage.output > 0) {
    record_.n_out = usage.output;
    record_.n_source = "usage";
  } else if (chunks > 0) {
    record_.n_out = chunks;
    record_.n_source = "chunks";
  }
}

void AnswerRecorder::take_engine(const wire::EngineTimes& times) {
  const wire::EngineTimes merged = wire::merge_engine_times(header_times_, times);
  record_.engine.queue_ns = told(merged.queue_ns);
  record_.engine.prefill_ns = told(merged.prefill_ns);
  record_.engine.decode_ns = told(merged.decode_ns);
  if (!record_.cached_tokens.value_or(0) && merged.cached_tokens >= 0) {
    record_.cached_tokens = merged.cached_tokens;
  }
}

void AnswerRecorder::set(RequestOutcome outcome, std::string_view error_class) {
  record_.outcome = outcome;
  record_.error_class = std::string(error_class);
}

void AnswerRecorder::mark(std::string_view name) {
  if (!record_.has_mark(name)) record_.marks.emplace_back(name);
}

}  // namespace hw::sampler
