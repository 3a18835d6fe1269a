#include "runs/sample_set.h"

#include <algorithm>

namespace hw::runs {
namespace {

constexpr double kNanosPerMs = 1e6;

// For the order of requests; what was never sent has its intended start.
Nanos start_of(const Record& record) {
  return record.t_tx0.value_or(record.t_sched.value_or(record.t_disp.value_or(0)));
}

MetricSamples& of(BucketSamples& bucket, Metric metric) {
  return bucket.metrics[static_cast<size_t>(metric)];
}

void add_gaps(BucketSamples& bucket, const Record& record) {
  MetricSamples& gaps = of(bucket, Metric::kTbt);
  for (size_t i = 1; i < record.tokens.size(); ++i) {
    const Nanos gap = record.tokens[i].at - record.tokens[i - 1].at;
    gaps.samples.push_back({record.tokens[i].at, static_cast<double>(gap) / kNanosPerMs, false});
  }
  if (record.tokens.size() < 2) ++gaps.n_undefined;
}

void add_finished(BucketSamples& bucket, const Record& record) {
  for (int i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    if (metric == Metric::kTbt) {
      add_gaps(bucket, record);
    } else if (const auto value = metric_ns(metric, record)) {
      of(bucket, metric).samples.push_back({start_of(record), *value / kNanosPerMs, false});
    } else {
      ++of(bucket, metric).n_undefined;
    }
  }
}

// A time-out has the values that it reached, and bounds of those that it did not.
void add_timed_out(BucketSamples& bucket, const Record& record) {
  for (int i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    if (const auto bound = censored_ns(metric, record)) {
      of(bucket, metric).samples.push_back({start_of(record), *bound / kNanosPerMs, true});
    } else if (metric == Metric::kTtft || metric == Metric::kTtfo || metric == Metric::kTtff ||
               metric == Metric::kTtftResponse || metric == Metric::kSchedLag) {
      const auto value = metric_ns(metric, record);
      if (value) of(bucket, metric).samples.push_back({start_of(record), *value / kNanosPerMs});
    }
  }
}

void add_to(BucketSamples& bucket, const Record& record) {
  ++bucket.counts.of[static_cast<size_t>(record.outcome)];
  if (record.outcome == RequestOutcome::kOk) add_finished(bucket, record);
  if (record.outcome == RequestOutcome::kTimeout) add_timed_out(bucket, record);
  bucket.events += record.tokens.size();
  for (const TokenEvent& token : record.tokens) {
    bucket.coalesced_events += token.events_in_read > 1 ? 1 : 0;
  }
  bucket.reasoning_hidden += record.has_mark("reasoning_hidden") ? 1 : 0;
}

}  // namespace

size_t MetricSamples::n_censored() const {
  return static_cast<size_t>(
      std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.censored; }));
}

std::vector<double> MetricSamples::values_ms() const {
  std::vector<double> out;
  out.reserve(samples.size());
  for (const Sample& sample : samples) out.push_back(sample.value_ms);
  return out;
}

size_t OutcomeCounts::failed() const {
  size_t sum = 0;
  for (int i = 0; i < kRequestOutcomeCount; ++i) {
    if (is_failed(static_cast<RequestOutcome>(i))) sum += of[static_cast<size_t>(i)];
  }
  return sum;
}

double OutcomeCounts::error_rate() const {
  return judged() == 0 ? 0 : static_cast<double>(failed()) / static_cast<double>(judged());
}

void SampleSet::add(const Record& record) {
  if (record.phase != Phase::kSteady) return;
  add_to(buckets_.find(kAllBucket)->second, record);
  if (record.bucket.empty() || record.bucket == kAllBucket) return;
  const auto known = buckets_.find(record.bucket);
  if (known != buckets_.end()) {
    add_to(known->second, record);
  } else if (buckets_.size() < kBucketsMax) {
    add_to(buckets_[record.bucket], record);
  }
}

void SampleSet::finish() {
  for (auto& [name, bucket] : buckets_) {
    for (MetricSamples& metric : bucket.metrics) {
      std::sort(metric.samples.begin(), metric.samples.end(),
                [](const Sample& a, const Sample& b) { return a.start < b.start; });
    }
  }
}

}  // namespace hw::runs
