// Permutation test: what the difference of means would be, had the runs' labels been dealt by
// chance.
#pragma once

#include <span>

#include "base/random.h"

namespace hw::statistics {

// One-sided p of "next is not above base": the share of all ways to label the values whose
// difference of means is at least as large, the one seen included. Exact up to kLabellingsMax ways,
// above that by kDealsMax random ones, (1 + hits) / (1 + deals). 1 where a side is empty.
inline constexpr double kLabellingsMax = 300'000;
inline constexpr int kDealsMax = 20'000;
double permutation_p_above(std::span<const double> base, std::span<const double> next,
                           Random& random);

}  // namespace hw::statistics
