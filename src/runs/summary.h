// Summary: what a run comes to, bucket by bucket and metric by metric, with intervals; the part
// `metrics` of summary.json.
//
//   SampleSet samples;
//   for (const Record& record : ...) samples.add(record);
//   const Summary summary = summarize(samples);
//   write_metrics(writer, summary);      // writer.key("metrics") comes before it
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "json/writer.h"
#include "runs/metric.h"
#include "runs/sample_set.h"

namespace hw::runs {

// A quantile by nearest rank with a 95 % interval by order statistics, ranks widened by the
// effective sample size. Milliseconds. `high` is +infinity where the sample has no upper end;
// `low` is absent where it has no lower end. `at_least`: the rank falls on a time-out, so that the
// value is a lower bound.
struct QuantileEstimate {
  double value = 0;
  std::optional<double> low;
  double high = 0;
  bool at_least = false;
};

// One metric of one bucket; milliseconds. Without a sample all but the counts is absent.
struct MetricSummary {
  Metric metric = Metric::kTtft;
  size_t n = 0;            // values, censored ones included
  size_t n_undefined = 0;  // requests that ended well and have no such value
  size_t n_censored = 0;   // time-outs, entered at their bound
  double n_effective = 0;  // after autocorrelation in the order of starts
  std::optional<double> mean, standard_deviation;  // censored ones left out
  std::optional<double> min, max;
  std::optional<QuantileEstimate> p50, p90, p95, p99;
};

// One bucket.
struct BucketSummary {
  std::string name;  // "all" first
  OutcomeCounts counts;
  std::array<MetricSummary, kMetricCount> metrics;

  // One metric's line.
  const MetricSummary& of(Metric metric) const { return metrics[static_cast<size_t>(metric)]; }
};

// A run.
struct Summary {
  std::vector<BucketSummary> buckets;
  // Of contract's `marks`, those that the records show: drifting, too_few_for_p99, coalesced,
  // reasoning_hidden, censored.
  std::vector<std::string> marks;
};

// Everything that `samples` say. Pure.
Summary summarize(const SampleSet& samples);

// The object {bucket: {metric: {unit, n, ...}}} as the next value of `writer`. What does not exist
// is null; an interval without an upper end has "inf".
void write_metrics(json::Writer& writer, const Summary& summary);

}  // namespace hw::runs
