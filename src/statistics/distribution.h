// The distribution functions that tests and intervals rest on.
#pragma once

#include <cstdint>

namespace hw::statistics {

// P(Z <= z) of the standard normal, and its inverse for p in (0, 1).
double normal_cdf(double z);
double normal_quantile(double p);

// P(T <= t) of Student's t with `degrees` > 0 (need not be whole), and its inverse for p in (0, 1).
double t_cdf(double t, double degrees);
double t_quantile(double p, double degrees);

// P(X <= k) of `n` trials with success `p` in [0, 1]; 0 for k < 0, 1 for k >= n.
double binomial_cdf(int64_t k, int64_t n, double p);

// P(X = k): `draws` without replacement from `total` of which `marked` are marked.
double hypergeometric_pdf(uint64_t k, uint64_t marked, uint64_t draws, uint64_t total);

}  // namespace hw::statistics
