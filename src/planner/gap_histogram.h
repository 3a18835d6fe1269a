// GapHistogram: times between tokens, counted in classes so fine that a quantile is right to 1 %.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace hw::planner {

// 64 classes for each power of two, as in HdrHistogram (Tene). Deterministic; adding is a few
// instructions and allocates only for a gap longer than any before.
class GapHistogram {
 public:
  // `count` gaps of this length, at least 0.
  void add(Nanos gap, int64_t count = 1);
  void add(const GapHistogram& other);

  // Gaps so far.
  int64_t count() const { return count_; }
  // The middle of the class in which the quantile `p` in [0, 1] by nearest rank is; 0 without gaps.
  double quantile_ms(double p) const;
  double mean_ms() const;

 private:
  std::vector<int64_t> counts_;
  int64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace hw::planner
