// Rules about the streamed answer: framing, first token, flow, end.
#include "base/text.h"
#include "probe/flow.h"
#include "verify/rules.h"

namespace hw::verify {

using probe::BodyKind;
using probe::Exchange;
using probe::Failure;
using probe::Flow;
using probe::FlowKind;
using probe::Record;
using probe::StreamSeen;
namespace {

bool is_event_stream(const Exchange& exchange) {
  constexpr std::string_view kType = "text/event-stream";
  return equal_ignoring_case(exchange.header("content-type").substr(0, kType.size()), kType);
}

// The answer to a streamed request that is none.
void judge_no_stream(const Exchange& stream, Findings& out) {
  if (!stream.decoded) {
    add(out, Code::kStreamEncoded, {stream.coding});
  } else if (stream.reading.error_member) {
    if (found(out, Code::kErrorInOk)) return;
    add(out, Code::kErrorInOk).evidence.push_back(words_of_error(stream, stream.reading.error));
  } else {
    add(out, Code::kStreamNotStreamed).evidence.push_back(what_came(stream));
  }
}

void judge_framing(const Exchange& stream, Findings& out) {
  const StreamSeen& seen = stream.stream;
  if (!stream.coding.empty()) add(out, Code::kStreamEncoded, {stream.coding});
  if (!is_event_stream(stream)) {
    Finding& made =
        add(out, Code::kStreamContentType, {std::string(stream.header("content-type"))});
    made.severity = Severity::kRemark;
  }
  if (seen.broken_events > 0) {
    Finding& made = add(out, Code::kStreamBrokenEvents, {std::to_string(seen.broken_events)});
    made.evidence.push_back(
        sentence({"the first of them: {0}", "其中第一个：{0}"}, {seen.broken_event}));
  }
  if (seen.error) {
    Finding& made = add(out, Code::kStreamErrorEvent);
    made.evidence.push_back(words_of_error(stream, seen.error_words));
    made.evidence.push_back(
        sentence({"{0} token events had come before it", "此前已有 {0} 个令牌事件"},
                 {std::to_string(seen.token_events)}));
  }
}

Sentence how_far(const Exchange& stream) {
  return sentence({"{0} events, {1} of them with text, {2} bytes in {3} ms; finish_reason: {4}",
                   "{0} 个事件，其中 {1} 个带文本，{3} 毫秒内 {2} 字节；finish_reason：{4}"},
                  {std::to_string(stream.stream.events), std::to_string(stream.stream.token_events),
                   std::to_string(stream.body_bytes), whole_ms(stream.times.ended),
                   stream.stream.finish_reason.empty() ? "-" : stream.stream.finish_reason});
}

void judge_end(const Exchange& stream, Findings& out) {
  const StreamSeen& seen = stream.stream;
  if (stream.failure == Failure::kCut || stream.failure == Failure::kClosed) {
    add(out, Code::kStreamCut).evidence.push_back(how_far(stream));
  } else if (stream.failure == Failure::kNone && !seen.finished && !seen.error) {
    Finding& made = add(out, Code::kStreamNoEnd);
    made.evidence.push_back(how_far(stream));
    if (seen.pending_bytes > 0) {
      made.evidence.push_back(
          sentence({"{0} bytes of an unfinished event were left", "剩有 {0} 字节未完成的事件"},
                   {std::to_string(seen.pending_bytes)}));
    }
  }
  const bool hidden = seen.usage.reasoning > 0 || seen.finish_reason == "length" ||
                      seen.finish_reason == "max_tokens" ||
                      seen.finish_reason == "max_output_tokens";
  if (seen.finished && !seen.error && seen.token_events == 0 && !hidden) {
    add(out, Code::kStreamWithoutTokens).evidence.push_back(how_far(stream));
  }
}

// Whether a second stream speaks against a buffer: its tokens came one by one, or at once and soon,
// so that the first was a server that stood still for a moment.
bool is_contradicted(const Record& record) {
  if (!record.longer_stream.has_value()) return false;
  const FlowKind kind = flow_of(*record.longer_stream).kind;
  return kind == FlowKind::kSteady || kind == FlowKind::kTooLittle;
}

void judge_flow(const Record& record, const Exchange& stream, Findings& out) {
  const Flow flow = flow_of(stream);
  if (found(out, Code::kStreamEncoded)) return;
  if (flow.kind == FlowKind::kClumps) {
    add(out, Code::kStreamClumps,
        {std::to_string(flow.tokens), std::to_string(flow.clumps), whole_ms(flow.pause_ns)});
    return;
  }
  if (flow.kind != FlowKind::kOneClump || is_contradicted(record)) return;
  Finding& made =
      add(out, Code::kStreamOneClump, {std::to_string(flow.tokens), whole_ms(flow.wait_ns)});
  made.evidence.push_back(
      sentence({"first to last token: {0} ms; not streamed the answer took {1} ms",
                "首个到最后一个令牌：{0} 毫秒；非流式回答用了 {1} 毫秒"},
               {whole_ms(flow.span_ns), whole_ms(record.plain().times.ended)}));
  if (!record.longer_stream.has_value()) return;
  const Flow longer = flow_of(*record.longer_stream);
  if (longer.tokens <= flow.tokens) return;
  made.evidence.push_back(
      sentence({"asked for a longer answer, the first token came after {0} ms with {1} tokens: it "
                "waits for the last one",
                "请求更长的回答时，{1} 个令牌的首个在 {0} 毫秒后到达：它在等最后一个"},
               {whole_ms(longer.wait_ns), std::to_string(longer.tokens)}));
}

void judge_timeout(const Record& record, const Exchange& stream, Findings& out) {
  const std::string waited = seconds(record.timeout_ns);
  if (stream.times.first_event < 0) {
    // Where the same is known of the request before, it needs no second word.
    if (found(out, Code::kTimeoutFirstByte) || found(out, Code::kTimeoutBody)) return;
    Finding& made = add(out, Code::kStreamTimeoutFirst, {waited});
    made.evidence.push_back(
        sentence({"not streamed the answer took {0} ms", "非流式回答用了 {0} 毫秒"},
                 {whole_ms(record.plain().times.ended)}));
    return;
  }
  add(out, Code::kStreamStalled, {waited}).evidence.push_back(how_far(stream));
}

}  // namespace

void judge_stream(const Record& record, Findings& out) {
  if (!record.stream.has_value()) return;
  const Exchange& stream = *record.stream;
  if (stream.failure == Failure::kTimeout && stream.times.first_event < 0) {
    judge_timeout(record, stream, out);
    return;
  }
  if (stream.status == 0) {
    add(out, Code::kStreamCut).evidence.push_back(what_failed(stream));
    return;
  }
  if (stream.status / 100 != 2) {
    Finding& made = add(out, Code::kStreamRefused, {std::to_string(stream.status)});
    made.evidence.push_back(words_of_error(stream, stream.reading.error));
    return;
  }
  if (!stream.is_stream) {
    judge_no_stream(stream, out);
    return;
  }
  judge_framing(stream, out);
  if (stream.failure == Failure::kTimeout) judge_timeout(record, stream, out);
  judge_end(stream, out);
  judge_flow(record, stream, out);
}

}  // namespace hw::verify
