// A bounded set of measured durations and its exact quantiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hw::bench {

class Samples {
 public:
  // Durations below 0 count as 0; those beyond the bound of 20 million are counted, not kept.
  void add(int64_t duration_ns) {
    ++count_;
    if (kept_.size() < kKeptMax) kept_.push_back(std::max<int64_t>(duration_ns, 0));
  }
  uint64_t count() const { return count_; }

  // The q-quantile in microseconds (0 <= q <= 1); 0 without samples.
  double quantile_us(double q) {
    if (kept_.empty()) return 0;
    auto rank =
        std::min(kept_.size() - 1, static_cast<size_t>(q * static_cast<double>(kept_.size())));
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<long>(rank), kept_.end());
    return static_cast<double>(kept_[rank]) / 1e3;
  }

 private:
  static constexpr size_t kKeptMax = 20'000'000;
  std::vector<int64_t> kept_;
  uint64_t count_ = 0;
};

}  // namespace hw::bench
