#include "timeline/call.h"

#include <algorithm>

namespace hw::timeline {
namespace {

// The moment from which the caller waits: the end of its body, or of its head where the body was
// never read; kAbsent where not even the head was.
Nanos asked_at(const Call& call) {
  const Nanos body = call.stamps.get(ExchangeStamp::kBodyRead);
  return body >= 0 ? body : call.stamps.get(ExchangeStamp::kHeadRead);
}

// Offset of a stamp of the attempt whose answer the client got, on streams only; -1 where absent.
Nanos streamed_stamp(const Call& call, AttemptStamp stamp) {
  const Attempt* winner = call.winner();
  return call.stream && winner != nullptr ? winner->stamps.get(stamp) : -1;
}

Nanos since_asked(const Call& call, AttemptStamp stamp) {
  const Nanos at = streamed_stamp(call, stamp);
  const Nanos asked = asked_at(call);
  return at < 0 || asked < 0 ? -1 : std::max<Nanos>(at - asked, 0);
}

// Output tokens that were streamed after the first; 0 where they cannot be told. Reasoning that
// the upstream counted and did not stream would make the pace look better than it was.
int64_t tokens_after_first(const Call& call) {
  if (call.tokens.source == TokenSource::kNone) return static_cast<int64_t>(call.gaps.count);
  const Nanos token = streamed_stamp(call, AttemptStamp::kFirstToken);
  const Nanos visible = streamed_stamp(call, AttemptStamp::kFirstVisible);
  const bool hidden_reasoning = call.tokens.reasoning > 0 && token == visible;
  return hidden_reasoning ? 0 : call.tokens.output - 1;
}

Nanos on_wall(const Call& call, Nanos offset) {
  return offset < 0 ? -1 : call.arrived_wall + offset;
}

}  // namespace

std::string_view token_source_name(TokenSource source) {
  switch (source) {
    case TokenSource::kNone:
      return "none";
    case TokenSource::kEstimated:
      return "estimated";
    case TokenSource::kUsage:
      return "usage";
  }
  return "?";
}

Nanos ttff_ns(const Call& call) {
  return since_asked(call, AttemptStamp::kFirstFrame);
}
Nanos ttft_ns(const Call& call) {
  return since_asked(call, AttemptStamp::kFirstToken);
}
Nanos ttfo_ns(const Call& call) {
  return since_asked(call, AttemptStamp::kFirstVisible);
}

Nanos tpot_ns(const Call& call) {
  const Nanos first = streamed_stamp(call, AttemptStamp::kFirstToken);
  const Nanos last = streamed_stamp(call, AttemptStamp::kLastToken);
  const int64_t tokens = tokens_after_first(call);
  if (first < 0 || last < first || tokens <= 0) return -1;
  return (last - first) / tokens;
}

WallTimes wall_times(const Call& call) {
  WallTimes times;
  times.enqueue = on_wall(call, asked_at(call));
  times.first_token = on_wall(call, streamed_stamp(call, AttemptStamp::kFirstToken));
  times.last_token = on_wall(call, streamed_stamp(call, AttemptStamp::kLastToken));
  times.finish = on_wall(call, call.stamps.get(ExchangeStamp::kFinished));
  return times;
}

std::string_view first_token_reason(const Call& call) {
  if (!call.stamps.has(ExchangeStamp::kBodyRead)) return "body_never_read";
  if (!call.stream) return "not_streamed";
  return streamed_stamp(call, AttemptStamp::kFirstToken) < 0 ? "no_token" : "";
}

}  // namespace hw::timeline
