#include "statistics/quantile.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "statistics/distribution.h"

namespace hw::statistics {
namespace {

// n p carries the error of a decimal fraction (0.99 * 100 is 99.00000000000001 in some orders of
// work); ranks are whole, so that this much may be forgiven.
constexpr double kRankSlack = 1e-9;

size_t ceiling(double value) {
  return static_cast<size_t>(std::max(1.0, std::ceil(value - kRankSlack)));
}

// The smallest k in [0, n] with BinCDF(k) > bound; n + 1 where there is none.
size_t first_above(size_t n, double p, double bound) {
  size_t low = 0, high = n + 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const double below = binomial_cdf(static_cast<int64_t>(middle), static_cast<int64_t>(n), p);
    if (below > bound) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The smallest k in [0, n] with 1 - BinCDF(k) <= bound, which always exists.
size_t first_covering(size_t n, double p, double bound) {
  size_t low = 0, high = n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    // 1 - BinCDF(k; n, p) = BinCDF(n - k - 1; n, 1 - p), without cancellation.
    const double above =
        binomial_cdf(static_cast<int64_t>(n - middle) - 1, static_cast<int64_t>(n), 1 - p);
    if (above <= bound) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

size_t nearest_rank(double p, size_t n) {
  HW_ASSERT(n > 0 && p >= 0 && p <= 1);
  return std::min(n, ceiling(static_cast<double>(n) * p));
}

double quantile(std::span<const double> sorted, double p) {
  return sorted[nearest_rank(p, sorted.size()) - 1];
}

RankInterval quantile_ranks(size_t n, double p, double level) {
  HW_ASSERT(p > 0 && p < 1 && level > 0 && level < 1);
  const double tail = (1 - level) / 2;
  RankInterval out;
  if (n == 0) return out;
  const size_t low = first_above(n, p, tail);  // BinCDF(low - 1) <= tail is the last that holds
  if (low >= 1 && low <= n) out.low = low;
  const size_t high = first_covering(n, p, tail) + 1;
  if (high <= n) out.high = high;
  return out;
}

RankInterval quantile_ranks(size_t n, double p, double level, double n_effective) {
  HW_ASSERT(n_effective >= 0);
  RankInterval out = quantile_ranks(n, p, level);
  const double all = static_cast<double>(n);
  if (n == 0 || n_effective >= all) return out;
  const auto fewer = static_cast<size_t>(std::floor(n_effective));
  const RankInterval of_fewer = quantile_ranks(fewer, p, level);
  const double centre = all * p;
  const double growth = std::sqrt(all / std::max(1.0, n_effective));
  if (out.low) {
    const double low = centre - (centre - static_cast<double>(*out.low)) * growth;
    out.low = !of_fewer.low || low < 1 ? std::nullopt
                                       : std::optional(static_cast<size_t>(std::floor(low)));
  }
  if (out.high) {
    const double high = centre + (static_cast<double>(*out.high) - centre) * growth;
    out.high = !of_fewer.high || high > all ? std::nullopt : std::optional(ceiling(high));
  }
  return out;
}

size_t minimum_samples(double p, double level, Sides sides) {
  HW_ASSERT(p > 0 && p < 1 && level > 0 && level < 1);
  const double tail = sides == Sides::kTwo ? (1 - level) / 2 : 1 - level;
  return ceiling(std::log(tail) / std::log(p));
}

double samples_for_precision(size_t n, double now, double wanted) {
  HW_ASSERT(wanted > 0);
  const double ratio = now / wanted;
  return std::ceil(static_cast<double>(n) * ratio * ratio);
}

}  // namespace hw::statistics
