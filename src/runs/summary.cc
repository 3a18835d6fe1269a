#include "runs/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "statistics/dependence.h"
#include "statistics/quantile.h"

namespace hw::runs {
namespace {

constexpr double kLevel = 0.95;
constexpr double kCoalescedShareMax = 0.1;  // above: a proxy or the client batches what is read

std::vector<double> sorted_of(const MetricSamples& samples) {
  std::vector<double> out = samples.values_ms();
  std::sort(out.begin(), out.end());
  return out;
}

// The order of starts matters for dependence; values of 0 have no logarithm, so that all are moved
// by the smallest step of the clock.
double effective_of(const MetricSamples& samples) {
  constexpr double kClockStepMs = 1e-6;
  std::vector<double> logs;
  for (const Sample& sample : samples.samples) {
    logs.push_back(std::log(std::max(sample.value_ms, 0.0) + kClockStepMs));
  }
  // Where values hardly differ, what is left to correlate is the rounding of the clock.
  constexpr double kSpreadMin = 1e-3;
  if (statistics::standard_deviation(logs) < kSpreadMin) return static_cast<double>(logs.size());
  return statistics::effective_size(logs.size(), statistics::lag1_autocorrelation(logs));
}

QuantileEstimate estimate(const std::vector<double>& sorted, double p, double n_effective,
                          double censored_from) {
  QuantileEstimate out;
  out.value = statistics::quantile(sorted, p);
  const statistics::RankInterval ranks =
      statistics::quantile_ranks(sorted.size(), p, kLevel, n_effective);
  if (ranks.low) out.low = sorted[*ranks.low - 1];
  out.high = ranks.high ? sorted[*ranks.high - 1] : std::numeric_limits<double>::infinity();
  out.at_least = out.value >= censored_from;
  if (out.high >= censored_from) out.high = std::numeric_limits<double>::infinity();
  return out;
}

void fill_moments(const MetricSamples& samples, MetricSummary& out) {
  std::vector<double> seen;
  for (const Sample& sample : samples.samples) {
    if (!sample.censored) seen.push_back(sample.value_ms);
  }
  if (!seen.empty()) out.mean = statistics::mean(seen);
  if (seen.size() > 1) out.standard_deviation = statistics::standard_deviation(seen);
}

MetricSummary summarize_metric(Metric metric, const MetricSamples& samples) {
  MetricSummary out;
  out.metric = metric;
  out.n = samples.samples.size();
  out.n_undefined = samples.n_undefined;
  out.n_censored = samples.n_censored();
  if (out.n == 0) return out;
  out.n_effective = effective_of(samples);
  fill_moments(samples, out);
  const std::vector<double> sorted = sorted_of(samples);
  out.min = sorted.front(), out.max = sorted.back();
  double censored_from = std::numeric_limits<double>::infinity();
  for (const Sample& sample : samples.samples) {
    if (sample.censored) censored_from = std::min(censored_from, sample.value_ms);
  }
  out.p50 = estimate(sorted, 0.50, out.n_effective, censored_from);
  out.p90 = estimate(sorted, 0.90, out.n_effective, censored_from);
  out.p95 = estimate(sorted, 0.95, out.n_effective, censored_from);
  out.p99 = estimate(sorted, 0.99, out.n_effective, censored_from);
  return out;
}

BucketSummary summarize_bucket(const std::string& name, const BucketSamples& samples) {
  BucketSummary out;
  out.name = name;
  out.counts = samples.counts;
  for (int i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    out.metrics[static_cast<size_t>(i)] = summarize_metric(metric, samples.of(metric));
  }
  return out;
}

bool any_drifts(const SampleSet& samples) {
  for (const auto& [name, bucket] : samples.buckets()) {
    if (samples.buckets().size() > 1 && name == kAllBucket) continue;  // a mix is no drift
    if (statistics::is_drifting(bucket.of(Metric::kTtft).values_ms())) return true;
  }
  return false;
}

std::vector<std::string> marks_of(const SampleSet& samples, const Summary& summary) {
  std::vector<std::string> out;
  const BucketSamples& all = samples.all();
  if (any_drifts(samples)) out.emplace_back("drifting");
  const auto enough =
      static_cast<double>(statistics::minimum_samples(0.99, kLevel, statistics::Sides::kTwo));
  for (const BucketSummary& bucket : summary.buckets) {
    if (bucket.of(Metric::kTtft).n_effective >= enough) continue;
    out.emplace_back("too_few_for_p99");
    break;
  }
  const double shared = kCoalescedShareMax * static_cast<double>(all.events);
  if (static_cast<double>(all.coalesced_events) > shared) out.emplace_back("coalesced");
  if (all.reasoning_hidden > 0) out.emplace_back("reasoning_hidden");
  if (all.of(Metric::kE2e).n_censored() > 0) out.emplace_back("censored");
  return out;
}

void write_optional(json::Writer& writer, std::string_view name, std::optional<double> value) {
  if (value) {
    writer.field(name, *value);
  } else {
    writer.field_null(name);
  }
}

void write_quantile(json::Writer& writer, std::string_view name,
                    const std::optional<QuantileEstimate>& estimate) {
  const std::string low = std::string(name) + "_lo", high = std::string(name) + "_hi";
  write_optional(writer, name, estimate ? std::optional(estimate->value) : std::nullopt);
  write_optional(writer, low, estimate ? estimate->low : std::nullopt);
  if (estimate && std::isinf(estimate->high)) {
    writer.field(high, "inf");
  } else {
    write_optional(writer, high, estimate ? std::optional(estimate->high) : std::nullopt);
  }
}

void write_metric(json::Writer& writer, const MetricSummary& metric) {
  writer.begin_object();
  writer.field("unit", "ms");
  writer.field("n", metric.n);
  writer.field("n_undefined", metric.n_undefined);
  writer.field("n_censored", metric.n_censored);
  writer.field("n_effective", metric.n_effective);
  write_optional(writer, "mean", metric.mean);
  write_optional(writer, "std", metric.standard_deviation);
  write_optional(writer, "min", metric.min);
  write_optional(writer, "max", metric.max);
  write_quantile(writer, "p50", metric.p50);
  write_quantile(writer, "p90", metric.p90);
  write_quantile(writer, "p95", metric.p95);
  write_quantile(writer, "p99", metric.p99);
  writer.field("definition", metric_definition(metric.metric));
  writer.end_object();
}

}  // namespace

Summary summarize(const SampleSet& samples) {
  Summary out;
  out.buckets.push_back(summarize_bucket(std::string(kAllBucket), samples.all()));
  for (const auto& [name, bucket] : samples.buckets()) {
    if (name != kAllBucket) out.buckets.push_back(summarize_bucket(name, bucket));
  }
  out.marks = marks_of(samples, out);
  return out;
}

void write_metrics(json::Writer& writer, const Summary& summary) {
  writer.begin_object();
  for (const BucketSummary& bucket : summary.buckets) {
    writer.key(bucket.name);
    writer.begin_object();
    for (const MetricSummary& metric : bucket.metrics) {
      writer.key(metric_name(metric.metric));
      write_metric(writer, metric);
    }
    writer.end_object();
  }
  writer.end_object();
}

}  // namespace hw::runs
