// Histogram: counts of durations in log-linear buckets (as HdrHistogram has them), so that a stream
// of any length has quantiles within 1 % in a few kilobytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/clock.h"

namespace hw {

// Values are nanoseconds (or any int64) >= 0. Below 64 they are kept exactly; above, each power of
// two is split into 64 buckets, and a bucket answers with its middle: at most 0.8 % off. Memory:
// 0.5 KiB for the table and 0.5 KiB for each power of two that was seen. Not thread-safe.
class Histogram {
 public:
  // Counts `value` once, or `times` times; negative values count as 0.
  void record(Nanos value, uint64_t times = 1);
  // Adds all that `other` has counted.
  void merge(const Histogram& other);
  void clear();

  // How many values were recorded.
  uint64_t count() const { return count_; }
  // Exact; 0 while nothing was recorded.
  Nanos min() const { return count_ == 0 ? 0 : min_; }
  Nanos max() const { return max_; }
  // Exact up to the rounding of a double; 0 while nothing was recorded.
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  // The value at rank ceil(q * count), q in [0, 1]: the smallest recorded value that at least that
  // share does not exceed, to within 1 %. Never outside [min, max]; 0 while nothing was recorded.
  Nanos quantile(double q) const;

 private:
  static constexpr int kSubBits = 6;
  static constexpr size_t kSubBuckets = size_t{1} << kSubBits;
  static constexpr size_t kRows = 64 - kSubBits;  // one for the exact values, one a power of two
  using Row = std::array<uint64_t, kSubBuckets>;

  std::array<std::unique_ptr<Row>, kRows> rows_;
  uint64_t count_ = 0;
  double sum_ = 0;
  Nanos min_ = 0, max_ = 0;
};

}  // namespace hw
