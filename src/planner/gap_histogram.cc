#include "planner/gap_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hw::planner {
namespace {

constexpr int kPartBits = 6;
constexpr uint64_t kParts = uint64_t{1} << kPartBits;

// Below 2 * kParts each value has a class; from there on each power of two has kParts of them.
size_t class_of(uint64_t value) {
  if (value < 2 * kParts) return value;
  const int shift = std::bit_width(value) - 1 - kPartBits;
  return static_cast<size_t>((static_cast<uint64_t>(shift) << kPartBits) + (value >> shift));
}

// The middle of a class.
double value_of(size_t index) {
  if (index < 2 * kParts) return static_cast<double>(index);
  const int shift = static_cast<int>(index >> kPartBits) - 1;
  const uint64_t top = index - (static_cast<uint64_t>(shift) << kPartBits);
  return std::ldexp(static_cast<double>(top) + 0.5, shift);
}

}  // namespace

void GapHistogram::add(Nanos gap, int64_t count) {
  if (count <= 0) return;
  const size_t index = class_of(static_cast<uint64_t>(std::max<Nanos>(gap, 0)));
  if (index >= counts_.size()) counts_.resize(index + 1);
  counts_[index] += count;
  count_ += count;
  sum_ += static_cast<double>(gap) * static_cast<double>(count);
}

void GapHistogram::add(const GapHistogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
}

double GapHistogram::quantile_ms(double p) const {
  if (count_ == 0) return 0;
  const auto rank =
      std::max<int64_t>(1, static_cast<int64_t>(std::ceil(p * static_cast<double>(count_))));
  int64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return value_of(i) / 1e6;
  }
  return 0;
}

double GapHistogram::mean_ms() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_) / 1e6;
}

}  // namespace hw::planner
