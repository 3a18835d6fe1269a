// SampleSet: the values of a run by bucket and metric, in the order in which requests began.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "runs/metric.h"

namespace hw::runs {

// One value.
struct Sample {
  Nanos start = 0;  // t_tx0, for order; of a gap its own time
  double value_ms = 0;
  bool censored = false;  // a time-out: the true value is above
};

// All values of one metric.
struct MetricSamples {
  std::vector<Sample> samples;  // sorted by start once finish() was called
  size_t n_undefined = 0;

  // How many are time-outs.
  size_t n_censored() const;
  // The values alone, in the order of starts.
  std::vector<double> values_ms() const;
};

// Requests by how they ended.
struct OutcomeCounts {
  std::array<size_t, kRequestOutcomeCount> of{};

  // Those that ended well, and those that is_failed() says failed.
  size_t ok() const { return of[static_cast<size_t>(RequestOutcome::kOk)]; }
  size_t failed() const;
  // ok() and failed(): what was asked and not cut by us.
  size_t judged() const { return ok() + failed(); }
  // failed() / judged(); 0 where nothing was judged.
  double error_rate() const;
};

// One bucket's values.
struct BucketSamples {
  OutcomeCounts counts;
  std::array<MetricSamples, kMetricCount> metrics;
  size_t coalesced_events = 0, events = 0;  // token events that shared their read, and all
  size_t reasoning_hidden = 0;              // requests so marked

  // The values of one metric.
  const MetricSamples& of(Metric metric) const { return metrics[static_cast<size_t>(metric)]; }
};

// The bucket that has every request.
inline constexpr std::string_view kAllBucket = "all";

// Collects. Not thread-safe.
class SampleSet {
 public:
  static constexpr size_t kBucketsMax = 256;  // further names are counted in "all" only

  // Takes a request of the steady phase; others are ignored.
  void add(const Record& record);
  // Sorts by start; call once after the last add().
  void finish();

  // By name; "all" is always there.
  const std::map<std::string, BucketSamples, std::less<>>& buckets() const { return buckets_; }
  const BucketSamples& all() const { return buckets_.find(kAllBucket)->second; }

 private:
  std::map<std::string, BucketSamples, std::less<>> buckets_ = {{std::string(kAllBucket), {}}};
};

}  // namespace hw::runs
