#include "statistics/permutation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hw::statistics {
namespace {

// Sums that are equal but for rounding count as equal.
constexpr double kSlack = 1e-12;

double ways(size_t n, size_t k) {
  double out = 1;
  for (size_t i = 1; i <= k; ++i) {
    out *= static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return out;
}

double exact(const std::vector<double>& values, size_t chosen, double threshold) {
  std::vector<bool> mask(values.size(), false);
  std::fill(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(chosen), true);
  double hits = 0, all = 0;
  do {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += mask[i] ? values[i] : 0;
    ++all;
    hits += sum >= threshold ? 1 : 0;
  } while (std::prev_permutation(mask.begin(), mask.end()));
  return hits / all;
}

double dealt(std::vector<double> values, size_t chosen, double threshold, Random& random) {
  int hits = 0;
  for (int deal = 0; deal < kDealsMax; ++deal) {
    double sum = 0;
    for (size_t i = 0; i < chosen; ++i) {
      std::swap(values[i], values[i + random.below(values.size() - i)]);
      sum += values[i];
    }
    hits += sum >= threshold ? 1 : 0;
  }
  return (1.0 + hits) / (1.0 + kDealsMax);
}

}  // namespace

double permutation_p_above(std::span<const double> base, std::span<const double> next,
                           Random& random) {
  if (base.empty() || next.empty()) return 1;
  std::vector<double> values(next.begin(), next.end());
  values.insert(values.end(), base.begin(), base.end());
  const double seen = std::accumulate(next.begin(), next.end(), 0.0);
  double scale = 0;
  for (const double value : values) scale += std::abs(value);
  const double threshold = seen - kSlack * scale;
  if (ways(values.size(), next.size()) <= kLabellingsMax) {
    return exact(values, next.size(), threshold);
  }
  return dealt(std::move(values), next.size(), threshold, random);
}

}  // namespace hw::statistics
