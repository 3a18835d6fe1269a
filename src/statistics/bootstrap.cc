#include "statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/assert.h"
#include "statistics/dependence.h"
#include "statistics/quantile.h"

namespace hw::statistics {
namespace {

// One resample of the size of `logs`, made of blocks of `length`.
void resample(std::span<const double> logs, size_t length, Random& random,
              std::vector<double>& out) {
  out.clear();
  while (out.size() < logs.size()) {
    const size_t begin = random.below(logs.size() - length + 1);
    const size_t take = std::min(length, logs.size() - out.size());
    const auto first = logs.begin() + static_cast<std::ptrdiff_t>(begin);
    out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(take));
  }
}

}  // namespace

size_t block_length(size_t n, double rho) {
  if (n == 0) return 1;
  constexpr double kRhoMax = 0.99;
  const double bounded = std::clamp(rho, 0.0, kRhoMax);
  const double length =
      std::pow(2 * bounded / (1 - bounded * bounded), 2.0 / 3) * std::cbrt(static_cast<double>(n));
  return std::clamp(static_cast<size_t>(std::ceil(length)), size_t{1}, n);
}

double log_quantile_error(std::span<const double> values, double p, int rounds, Random& random) {
  HW_ASSERT(!values.empty() && rounds >= 2);
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  const size_t length = block_length(logs.size(), lag1_autocorrelation(logs));
  const size_t rank = nearest_rank(p, logs.size());
  std::vector<double> resampled, estimates;
  for (int round = 0; round < rounds; ++round) {
    resample(logs, length, random, resampled);
    const auto place = resampled.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(resampled.begin(), place, resampled.end());
    estimates.push_back(*place);
  }
  return standard_deviation(estimates);
}

}  // namespace hw::statistics
