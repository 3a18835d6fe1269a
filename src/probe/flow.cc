#include "probe/flow.h"

#include <algorithm>
#include <vector>

namespace hw::probe {
namespace {

// Fewer token events say nothing about how they arrive.
constexpr uint64_t kTokensMin = 8;
constexpr Nanos kTogether = kMillisecond / 2;
// A shorter wait before a clump may be a fast engine, or an answer from a cache.
constexpr Nanos kWaitMin = 150 * kMillisecond;
// Engines of 2000 tokens/s need 24 ms for the answer of a check; a buffer is written out in a few.
constexpr Nanos kOnceMax = 10 * kMillisecond;
constexpr Nanos kWaitPerSpan = 20;
// Speculative decoding yields two or three tokens a step; a buffer of 4 KiB holds about twenty.
constexpr uint64_t kClumpTokensMin = 4;
constexpr Nanos kPauseMin = 100 * kMillisecond;

}  // namespace

Flow flow_of(const Exchange& exchange) {
  Flow out;
  std::vector<Nanos> pauses;
  Nanos before = -1;
  for (const BodyRead& read : exchange.reads) {
    if (read.token_events == 0) continue;
    out.tokens += read.token_events;
    if (before < 0 || read.at - before > kTogether) {
      ++out.clumps;
      if (before >= 0) pauses.push_back(read.at - before);
    }
    before = read.at;
  }
  if (exchange.times.first_token < 0) return out;
  out.wait_ns = exchange.times.first_token - std::max<Nanos>(exchange.times.sent, 0);
  out.span_ns = exchange.times.last_token - exchange.times.first_token;
  if (!pauses.empty()) {
    const auto middle = pauses.begin() + static_cast<ptrdiff_t>(pauses.size() / 2);
    std::nth_element(pauses.begin(), middle, pauses.end());
    out.pause_ns = *middle;
  }
  if (out.tokens < kTokensMin) return out;
  const bool at_once = out.span_ns <= kOnceMax && out.span_ns * kWaitPerSpan <= out.wait_ns;
  if (at_once) {
    if (out.wait_ns >= kWaitMin) out.kind = FlowKind::kOneClump;
    return out;
  }
  const bool clumped =
      out.clumps >= 2 && out.tokens >= kClumpTokensMin * out.clumps && out.pause_ns >= kPauseMin;
  out.kind = clumped ? FlowKind::kClumps : FlowKind::kSteady;
  return out;
}

}  // namespace hw::probe
