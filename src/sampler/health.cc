#include "sampler/health.h"

#include "base/text.h"
#include "statistics/quantile.h"

namespace hw::sampler {

using State = HealthPart::State;
namespace {

constexpr double kLevel = 0.95;

HealthPart unknown(std::string name, std::string_view title) {
  return {std::move(name), State::kUnknown, concat(title, ": no request has one"),
          concat(title, "：没有请求测得")};
}

HealthPart judge_median(std::string name, std::string_view title, const runs::MetricSummary& metric,
                        double limit_ms) {
  if (!metric.p50) return unknown(std::move(name), title);
  const double value = metric.p50->value;
  const bool good = value <= limit_ms && !metric.p50->at_least;
  const std::string shown = fixed(value, 1), limit = fixed(limit_ms, 0);
  return {std::move(name), good ? State::kGood : State::kBad,
          concat(title, " P50 is ", shown, " ms; healthy is up to ", limit, " ms"),
          concat(title, " P50 为 ", shown, " 毫秒；健康值不超过 ", limit, " 毫秒")};
}

// A P99 that the sample does not carry is its maximum or near it: said, and judged all the same
// where even that is within bounds.
HealthPart judge_tail(std::string name, std::string_view title, const runs::MetricSummary& metric,
                      double ratio_max) {
  if (!metric.p50 || !metric.p99 || metric.p50->value <= 0) return unknown(std::move(name), title);
  const double ratio = metric.p99->value / metric.p50->value;
  const size_t needed = statistics::minimum_samples(0.99, kLevel, statistics::Sides::kTwo);
  const bool carried = metric.n >= needed;
  const bool good = ratio <= ratio_max && !metric.p99->at_least;
  const std::string shown = fixed(ratio, 1), limit = fixed(ratio_max, 0);
  std::string english = concat(title, " P99 is ", shown, " times P50; healthy is up to ", limit);
  std::string chinese = concat(title, " P99 为 P50 的 ", shown, " 倍；健康值不超过 ", limit, " 倍");
  if (!carried) {
    english += concat(" (", metric.n, " samples do not carry a P99: it needs ", needed, ")");
    chinese += concat("（", metric.n, " 个样本不足以支撑 P99：需要 ", needed, " 个）");
  }
  const State state = good ? State::kGood : carried ? State::kBad : State::kUnknown;
  return {std::move(name), state, std::move(english), std::move(chinese)};
}

HealthPart judge_errors(const runs::OutcomeCounts& counts) {
  if (counts.judged() == 0) return unknown("errors", "errors");
  const State state = counts.failed() == 0 ? State::kGood : State::kBad;
  return {"errors", state, concat(counts.failed(), " of ", counts.judged(), " requests failed"),
          concat(counts.judged(), " 个请求中失败 ", counts.failed(), " 个")};
}

}  // namespace

std::string_view health_state_name(State state) {
  switch (state) {
    case State::kGood:
      return "good";
    case State::kBad:
      return "bad";
    case State::kUnknown:
      return "unknown";
  }
  return "";
}

Health judge(const runs::BucketSummary& bucket) {
  const runs::MetricSummary& ttft = bucket.of(runs::Metric::kTtft);
  const runs::MetricSummary& tpot = bucket.of(runs::Metric::kTpot);
  Health out;
  out.parts.push_back(judge_errors(bucket.counts));
  out.parts.push_back(judge_median("ttft_p50", "TTFT", ttft, kTtftP50MsMax));
  out.parts.push_back(judge_tail("ttft_tail", "TTFT", ttft, kTtftTailRatioMax));
  out.parts.push_back(judge_median("tpot_p50", "TPOT", tpot, kTpotP50MsMax));
  out.parts.push_back(judge_tail("tpot_tail", "TPOT", tpot, kTpotTailRatioMax));
  out.state = State::kGood;
  for (const HealthPart& part : out.parts) {
    if (part.state == State::kBad) out.state = State::kBad;
    if (part.state == State::kUnknown && out.state == State::kGood) out.state = State::kUnknown;
  }
  return out;
}

}  // namespace hw::sampler
