#include "runs/summary.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace hw::runs {
namespace {

// A request that began at `start` ms, with its first token after `ttft` and four more, 10 ms apart.
Record request(int64_t start_ms, int64_t ttft_ms, std::string bucket = "short") {
  Record record;
  record.bucket = std::move(bucket);
  record.t_sched = record.t_disp = record.t_tx0 = start_ms * kMillisecond;
  for (int i = 0; i < 5; ++i) {
    record.tokens.push_back({(start_ms + ttft_ms + i * 10) * kMillisecond});
  }
  record.n_out = 9;
  record.t_done = record.tokens.back().at + kMillisecond;
  return record;
}

Summary summary_of(const std::vector<Record>& records) {
  SampleSet samples;
  for (const Record& record : records) samples.add(record);
  samples.finish();
  return summarize(samples);
}

TEST_CASE("each metric follows its formula") {
  Record record = request(100, 50);
  record.t_sched = 90 * kMillisecond;
  record.t_disp = 95 * kMillisecond;
  record.t_frame = 120 * kMillisecond;
  record.tokens[0].channel = TokenChannel::kReasoning;
  record.t_conn0 = 96 * kMillisecond, record.t_tcp = 98 * kMillisecond;
  const auto ms = [&](Metric metric) { return metric_ns(metric, record).value() / 1e6; };
  CHECK(ms(Metric::kTtft) == 50);
  CHECK(ms(Metric::kTtfo) == 60);
  CHECK(ms(Metric::kTtff) == 20);
  CHECK(ms(Metric::kTtst) == 10);
  CHECK(ms(Metric::kTpot) == 5);  // 40 ms for 9 - 1 tokens
  CHECK(ms(Metric::kE2e) == 90);
  CHECK(ms(Metric::kTtftResponse) == 60);
  CHECK(ms(Metric::kE2eResponse) == 100);
  CHECK(ms(Metric::kConnect) == 2);
  CHECK(ms(Metric::kSchedLag) == 5);
  CHECK(ms(Metric::kTail) == 1);
  record.reused = true;
  CHECK(ms(Metric::kConnect) == 0);
  record.n_first = 4;
  CHECK(ms(Metric::kTpot) == 8);
}

TEST_CASE("one token has no TPOT, and hidden reasoning has neither TTFT nor TPOT") {
  Record record = request(0, 50);
  record.n_out = 1;
  CHECK_FALSE(metric_ns(Metric::kTpot, record).has_value());
  record = request(0, 50);
  record.marks = {"reasoning_hidden"};
  CHECK_FALSE(metric_ns(Metric::kTpot, record).has_value());
  CHECK_FALSE(metric_ns(Metric::kTtft, record).has_value());
  CHECK(metric_ns(Metric::kTtfo, record).has_value());
}

TEST_CASE("only steady requests count, failures have no latency, undefined ones are counted") {
  std::vector<Record> records = {request(0, 50), request(1, 60), request(2, 70)};
  records[1].phase = Phase::kWarmup;
  records[2].outcome = RequestOutcome::kHttpError;
  records.push_back(request(3, 80));
  records[3].n_out = 1;
  const Summary summary = summary_of(records);
  const BucketSummary& all = summary.buckets.front();
  CHECK(all.counts.ok() == 2);
  CHECK(all.counts.failed() == 1);
  CHECK(all.of(Metric::kTtft).n == 2);
  CHECK(all.of(Metric::kTpot).n == 1);
  CHECK(all.of(Metric::kTpot).n_undefined == 1);
  CHECK(all.of(Metric::kTbt).n == 8);
}

TEST_CASE("a time-out is a lower bound in the quantiles and absent from the mean") {
  std::vector<Record> records;
  for (int i = 0; i < 9; ++i) records.push_back(request(i * 1000, 50));
  Record late;
  late.bucket = "short";
  late.outcome = RequestOutcome::kTimeout;
  late.t_tx0 = 9'000 * kMillisecond;
  late.t_close = 129'000 * kMillisecond;
  records.push_back(late);
  const Summary summary = summary_of(records);
  const MetricSummary& ttft = summary.buckets.front().of(Metric::kTtft);
  CHECK(ttft.n == 10);
  CHECK(ttft.n_censored == 1);
  CHECK(ttft.mean == doctest::Approx(50));
  CHECK(ttft.p50->value == 50);
  CHECK_FALSE(ttft.p50->at_least);
  CHECK(ttft.p99->value == 120'000);
  CHECK(ttft.p99->at_least);
  CHECK(std::isinf(ttft.p99->high));
}

TEST_CASE("fifty samples carry no P99: its interval has no upper end and the run says so") {
  std::vector<Record> records;
  Random random(7);
  for (int i = 0; i < 50; ++i) {
    records.push_back(request(i * 1000, 50 + static_cast<int64_t>(random.below(20))));
  }
  const Summary summary = summary_of(records);
  CHECK(std::isinf(summary.buckets.front().of(Metric::kTtft).p99->high));
  CHECK(std::count(summary.marks.begin(), summary.marks.end(), "too_few_for_p99") == 1);
  std::string text;
  json::Writer writer(text);
  write_metrics(writer, summary);
  CHECK(text.find("\"p99_hi\":\"inf\"") != std::string::npos);
  CHECK(text.find("\"short\":{\"ttft\":{\"unit\":\"ms\",\"n\":50") != std::string::npos);
}

TEST_CASE("values that differ by the clock's rounding only count in full") {
  std::vector<Record> records;
  for (int i = 0; i < 50; ++i) {
    records.push_back(request(i * 1000, 50));
    for (TokenEvent& token : records.back().tokens) token.at += i;  // a few nanoseconds, rising
  }
  CHECK(summary_of(records).buckets.front().of(Metric::kTtft).n_effective == 50);
}

TEST_CASE("a run whose first tokens come later and later is drifting, a mix of lengths is not") {
  std::vector<Record> rising, mixed;
  for (int i = 0; i < 100; ++i) {
    rising.push_back(request(i * 1000, 50 + i));
    mixed.push_back(request(i * 1000, i % 2 == 0 ? 50 : 500, i % 2 == 0 ? "short" : "long"));
  }
  const auto drifts = [](const Summary& summary) {
    return std::count(summary.marks.begin(), summary.marks.end(), "drifting") == 1;
  };
  CHECK(drifts(summary_of(rising)));
  CHECK_FALSE(drifts(summary_of(mixed)));
}

}  // namespace
}  // namespace hw::runs
