// Moving-block bootstrap: the spread of a quantile when neighbours in time depend on each other.
#pragma once

#include <cstddef>
#include <span>

#include "base/random.h"

namespace hw::statistics {

// Length of a block for n values with lag-1 autocorrelation `rho`:
// ceil((2 rho / (1 - rho^2))^(2/3) n^(1/3)) (Carlstein 1986), in [1, n].
size_t block_length(size_t n, double rho);

// Standard error of ln(quantile p) of `values` > 0 in the order of time, by `rounds` resamples of
// overlapping blocks (Künsch 1989) of length block_length(). Precondition: values not empty,
// rounds >= 2.
double log_quantile_error(std::span<const double> values, double p, int rounds, Random& random);

}  // namespace hw::statistics
