#include "sampler/report_text.h"

#include <cmath>

#include "base/text.h"
#include "statistics/quantile.h"
#include "terminal/table.h"

namespace hw::sampler {

using config::Language;
using config::Words;
using runs::Metric;
using terminal::Row;
namespace {

constexpr double kNanosPerMs = 1e6;

std::string_view pick(Language language, std::string_view english, std::string_view chinese) {
  return language == Language::kChinese ? chinese : english;
}

std::string shown_ms(double value) {
  return fixed(value, value < 10 ? 2 : 1);
}

// "123.4 [110.0, 150.2]"; "[110.0, -]" without an upper end; ">= 120000" for a bound.
std::string shown(const std::optional<runs::QuantileEstimate>& estimate) {
  if (!estimate) return "-";
  std::string out = concat(estimate->at_least ? ">= " : "", shown_ms(estimate->value), " [",
                           estimate->low ? shown_ms(*estimate->low) : "-", ", ");
  return out + (std::isinf(estimate->high) ? std::string("-") : shown_ms(estimate->high)) + "]";
}

struct Shown {
  Metric metric;
  Words title;
};
constexpr Shown kShown[] = {
    {Metric::kTtft, {"TTFT", "TTFT"}},
    {Metric::kTtfo, {"first visible", "首个可见"}},
    {Metric::kTpot, {"TPOT", "TPOT"}},
    {Metric::kTbt, {"gap", "间隔"}},
    {Metric::kE2e, {"total", "总时长"}},
    {Metric::kTtftResponse, {"TTFT from due", "TTFT（自计划）"}},
    {Metric::kE2eResponse, {"total from due", "总时长（自计划）"}},
};

// Reasoning apart only where there is some; response times only where they differ.
bool is_worth_showing(const runs::BucketSummary& bucket, Metric metric, bool open) {
  if (bucket.of(metric).n == 0) return metric == Metric::kTtft || metric == Metric::kE2e;
  const bool response = metric == Metric::kTtftResponse || metric == Metric::kE2eResponse;
  if (response) return open;
  if (metric != Metric::kTtfo) return true;
  const auto& ttfo = bucket.of(Metric::kTtfo);
  const auto& ttft = bucket.of(Metric::kTtft);
  return !ttft.p50 || ttfo.p50->value != ttft.p50->value;
}

std::string metric_table(const SessionResult& result, Language language, terminal::Colour colour) {
  const bool open = result.load.rate.has_value();
  std::vector<Row> rows;
  for (const runs::BucketSummary& bucket : result.summary.buckets) {
    for (const Shown& one : kShown) {
      if (!is_worth_showing(bucket, one.metric, open)) continue;
      const runs::MetricSummary& metric = bucket.of(one.metric);
      rows.push_back({bucket.name, std::string(one.title.in(language)), std::to_string(metric.n),
                      shown(metric.p50), shown(metric.p95), shown(metric.p99)});
    }
  }
  const Row header = language == Language::kChinese
                         ? Row{"分组", "指标 ms", "样本", "P50 [95% 区间]", "P95", "P99"}
                         : Row{"BUCKET", "METRIC ms", "N", "P50 [95 % INTERVAL]", "P95", "P99"};
  return terminal::render_table(header, rows, colour);
}

std::string counts_line(const SessionResult& result, Language language) {
  const runs::OutcomeCounts& counts = result.summary.buckets.front().counts;
  const size_t cancelled = counts.of[static_cast<size_t>(runs::RequestOutcome::kCancelled)];
  const size_t dropped = counts.of[static_cast<size_t>(runs::RequestOutcome::kDropped)];
  return language == Language::kChinese ? concat("成功 ", counts.ok(), "，失败 ", counts.failed(),
                                                 "，取消 ", cancelled, "，丢弃 ", dropped, "\n")
                                        : concat(counts.ok(), " ok, ", counts.failed(), " failed, ",
                                                 cancelled, " cancelled, ", dropped, " dropped\n");
}

std::string error_lines(const SessionResult& result, Language language) {
  if (result.errors.empty()) return "";
  std::string out(pick(language, "\nErrors by class:\n", "\n按类别统计的错误：\n"));
  for (const auto& [name, count] : result.errors) {
    const auto words = result.first_words.find(name);
    out += concat("  ", count, " x ", name);
    if (words != result.first_words.end()) out += concat(": ", words->second);
    out += "\n";
  }
  return out;
}

std::string health_lines(const SessionResult& result, Language language) {
  std::string out;
  for (const auto& [bucket, health] : result.health) {
    const Words words = health.state == HealthPart::State::kGood
                            ? Words{"looks healthy", "状态健康"}
                        : health.state == HealthPart::State::kBad
                            ? Words{"does not look healthy", "状态不健康"}
                            : Words{"cannot be judged by this run", "本次运行不足以判断"};
    out += concat("\n", bucket, ": ", words.in(language), "\n");
    for (const HealthPart& part : health.parts) {
      const std::string_view sign = part.state == HealthPart::State::kGood  ? "+"
                                    : part.state == HealthPart::State::kBad ? "-"
                                                                            : "?";
      out += concat("  ", sign, " ", part.in(language), "\n");
    }
  }
  return out;
}

std::string optional_ms(std::optional<double> value) {
  return value ? fixed(*value, 3) : "-";
}

std::string pace_lines(const PaceFigures& pace, Language language) {
  std::string out = "\n";
  if (pace.rate_offered) {
    out +=
        concat(pick(language, "Rate: offered ", "速率：计划 "), fixed(*pace.rate_offered, 2), "/s",
               pick(language, ", due ", "，到期 "), pace.rate_due ? fixed(*pace.rate_due, 2) : "-",
               "/s", pick(language, ", sent ", "，发出 "),
               pace.rate_sent ? fixed(*pace.rate_sent, 2) : "-", "/s\n");
    out += concat(pick(language, "Schedule lag ms: P50 ", "计划延迟（毫秒）：P50 "),
                  optional_ms(pace.lag_p50), ", P99 ", optional_ms(pace.lag_p99), ", max ",
                  optional_ms(pace.lag_max),
                  pick(language, "; late by more than 1/10/100 ms: ", "；延迟超过 1/10/100 毫秒："),
                  fixed(pace.late_1ms * 100, 1), " %, ", fixed(pace.late_10ms * 100, 1), " %, ",
                  fixed(pace.late_100ms * 100, 1), " %\n");
    out += concat(pick(language, "Loop late ms: P99 ", "循环延迟（毫秒）：P99 "),
                  optional_ms(pace.timer_p99), ", max ", optional_ms(pace.timer_max), "\n");
  }
  out += concat(
      pick(language, "Age of what was read, at most, ms: P50 ", "读取时的数据龄上限（毫秒）：P50 "),
      optional_ms(pace.receive_age_p50), ", P99 ", optional_ms(pace.receive_age_p99), ", max ",
      optional_ms(pace.receive_age_max), pick(language, "; connections opened ", "；新建连接 "),
      pace.connections, pick(language, ", reused ", "，复用 "), pace.reused, "\n");
  return out;
}

std::string probe_lines(const SessionResult& result, Language language) {
  std::string out;
  const Words handshake = {"TCP handshake", "TCP 握手"}, canary = {"canary", "探针请求"};
  for (const auto& [words, kind] :
       {std::pair{handshake, runs::ProbeKind::kRtt}, std::pair{canary, runs::ProbeKind::kCanary}}) {
    const Histogram durations = durations_of(result.probes, kind);
    if (durations.count() == 0) continue;
    const auto quantile = [&](double q) {
      return fixed(static_cast<double>(durations.quantile(q)) / kNanosPerMs, 3);
    };
    out += concat(words.in(language), " ms: n ", durations.count(), ", P50 ", quantile(0.5),
                  ", P99 ", quantile(0.99), "\n");
  }
  return out;
}

struct Remark {
  std::string_view mark;
  Words words;
};
constexpr Remark kRemarks[] = {
    {"client_limited",
     {"The client itself was late: these numbers are about this machine too, and no baseline.",
      "采样端自身有延迟：这些数字也反映了本机，不能作为基线。"}},
    {"drifting",
     {"Latency drifted during the run: quantiles mix different states.",
      "运行过程中延迟有漂移：分位数混合了不同状态。"}},
    {"coalesced",
     {"Many tokens came together in one read: something on the way buffers.",
      "许多 token 在一次读取中一起到达：途中存在缓冲。"}},
    {"reasoning_hidden",
     {"The model reasons without showing it: the first token cannot be seen from here.",
      "模型的推理不可见：无法从这里观察首个 token。"}},
    {"censored",
     {"Requests timed out: they count with the time they had waited, as a lower bound.",
      "有请求超时：以其已等待的时间作为下界计入。"}},
    {"triple_changed",
     {"Base URL, key or model are not those of the run before: the numbers do not compare.",
      "Base URL、密钥或模型与上一次运行不同：数字不可比较。"}},
};

std::string remark_lines(const SessionResult& result, Language language) {
  std::string out;
  for (const std::string& mark : result.summary.marks) {
    if (mark == "too_few_for_p99") {
      const size_t needed = statistics::minimum_samples(0.99, 0.95, statistics::Sides::kTwo);
      const size_t n = result.summary.buckets.front().of(Metric::kTtft).n;
      const std::vector<std::string> said = {std::to_string(n), std::to_string(needed)};
      out += "! " +
             config::fill(
                 pick(language,
                      "{0} samples cannot carry a P99: its interval has no upper end below "
                      "{1} (better 2000).",
                      "{0} 个样本不足以支撑 P99：少于 {1} 个时区间没有上限（最好 2000 个）。"),
                 said) +
             "\n";
    }
    for (const Remark& remark : kRemarks) {
      if (mark == remark.mark) out += concat("! ", remark.words.in(language), "\n");
    }
  }
  if (result.stopped) {
    out +=
        pick(language, "! Interrupted: this is what there is.\n", "! 已中断：以上为现有结果。\n");
  }
  if (result.disk) {
    out += concat("! ", pick(language, "The run folder is incomplete: ", "运行目录不完整："),
                  result.disk->message, "\n");
  }
  return out.empty() ? out : "\n" + out;
}

std::string value_or_dash(Metric metric, const runs::Record& record) {
  const std::optional<double> value = runs::metric_ns(metric, record);
  return value ? shown_ms(*value / kNanosPerMs) : "-";
}

}  // namespace

std::string request_line(const runs::Record& record, size_t number, size_t total,
                         Language language) {
  const std::string of = total > 0 ? concat("/", total) : "";
  std::string out =
      concat("  ", number, of, "  ", record.bucket, "  ", runs::outcome_name(record.outcome));
  if (!record.error_class.empty()) out += concat(" (", record.error_class, ")");
  if (record.outcome != runs::RequestOutcome::kOk) return out;
  return out + concat("  TTFT ", value_or_dash(Metric::kTtft, record), " ms  TPOT ",
                      value_or_dash(Metric::kTpot, record),
                      pick(language, " ms  total ", " ms  总时长 "),
                      value_or_dash(Metric::kE2e, record), " ms  ", record.n_out.value_or(0),
                      pick(language, " tokens", " 个 token"));
}

std::string report_text(const SessionResult& result, Language language, terminal::Colour colour) {
  return counts_line(result, language) + "\n" + metric_table(result, language, colour) +
         error_lines(result, language) + health_lines(result, language) +
         pace_lines(result.pace, language) + probe_lines(result, language) +
         remark_lines(result, language) + "\n" + serving_block(result.figures, result.load);
}

}  // namespace hw::sampler
