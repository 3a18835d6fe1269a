#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/assert.h"

namespace hw {
namespace {

constexpr int kBits = 6;
constexpr uint64_t kSub = uint64_t{1} << kBits;

// Row 0 holds 0..63; row r >= 1 holds [64 << (r-1), 128 << (r-1)) in 64 equal buckets.
struct Place {
  size_t row, column;
};

Place place_of(uint64_t value) {
  if (value < kSub) return {0, value};
  const int shift = std::bit_width(value) - 1 - kBits;
  return {static_cast<size_t>(shift) + 1, (value >> shift) - kSub};
}

// The middle of a bucket.
Nanos middle_of(Place place) {
  if (place.row == 0) return static_cast<Nanos>(place.column);
  const auto shift = place.row - 1;
  const uint64_t low = (kSub + place.column) << shift;
  return static_cast<Nanos>(low + ((uint64_t{1} << shift) >> 1));
}

}  // namespace

void Histogram::record(Nanos value, uint64_t times) {
  if (times == 0) return;
  value = std::max<Nanos>(value, 0);
  const Place place = place_of(static_cast<uint64_t>(value));
  HW_ASSERT(place.row < kRows);
  auto& row = rows_[place.row];
  if (row == nullptr) row = std::make_unique<Row>();
  (*row)[place.column] += times;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(times);
  count_ += times;
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  for (size_t r = 0; r < kRows; ++r) {
    if (other.rows_[r] == nullptr) continue;
    if (rows_[r] == nullptr) rows_[r] = std::make_unique<Row>();
    for (size_t c = 0; c < kSubBuckets; ++c) (*rows_[r])[c] += (*other.rows_[r])[c];
  }
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  count_ += other.count_;
}

void Histogram::clear() {
  *this = Histogram();
}

Nanos Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_));
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, count_);
  if (rank == count_) return max_;
  uint64_t seen = 0;
  for (size_t r = 0; r < kRows; ++r) {
    if (rows_[r] == nullptr) continue;
    for (size_t c = 0; c < kSubBuckets; ++c) {
      seen += (*rows_[r])[c];
      if (seen >= rank) return std::clamp(middle_of({r, c}), min_, max_);
    }
  }
  HW_ASSERT(!"the buckets hold fewer values than were counted");
}

}  // namespace hw
