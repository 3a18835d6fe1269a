// Quantiles by nearest rank, with intervals that assume nothing about the distribution.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hw::statistics {

// Ranks are 1-based, as in the literature. The rank of quantile `p` in [0, 1] among n > 0 values:
// ceil(n p), at least 1.
size_t nearest_rank(double p, size_t n);

// The value of that rank. Precondition: `sorted` is sorted and not empty.
double quantile(std::span<const double> sorted, double p);

// The ranks between which the true quantile lies; nothing where the sample has no such end.
struct RankInterval {
  std::optional<size_t> low, high;
};

// Order-statistic interval (David and Nagaraja, Order Statistics, §7.1) of quantile `p` in (0, 1)
// among n values at confidence `level`: l the largest with BinCDF(l - 1) <= (1 - level) / 2, u the
// smallest with 1 - BinCDF(u - 1) <= (1 - level) / 2.
RankInterval quantile_ranks(size_t n, double p, double level);

// The same for values that depend on each other and are worth only `n_effective` <= n: distances
// from n p grow by sqrt(n / n_effective). No end where n_effective values would have none.
RankInterval quantile_ranks(size_t n, double p, double level, double n_effective);

// How confidence is split.
enum class Sides : unsigned char { kOne, kTwo };

// Fewest values with which quantile `p` in (0, 1) has an upper end at `level`: ln(a) / ln(p), with
// a = 1 - level one-sided and half of it two-sided. P99 at 95 %, two-sided: 368.
size_t minimum_samples(double p, double level, Sides sides);

// Values needed so that a relative half-width of `now` at n comes down to `wanted`:
// n (now / wanted)^2.
double samples_for_precision(size_t n, double now, double wanted);

}  // namespace hw::statistics
