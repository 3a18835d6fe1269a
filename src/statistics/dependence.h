// How much values in the order of time say about each other.
#pragma once

#include <cstddef>
#include <span>

namespace hw::statistics {

// Mean and standard deviation (n - 1); 0 for fewer than 1 and 2 values.
double mean(std::span<const double> values);
double standard_deviation(std::span<const double> values);

// Correlation of neighbours, in [-1, 1]; 0 for fewer than three values or when all are equal.
double lag1_autocorrelation(std::span<const double> values);

// n (1 - rho) / (1 + rho), the number of independent values with as good a mean; rho below 0 counts
// as 0, so that it never exceeds n, and is capped at 0.99.
double effective_size(size_t n, double rho);

// Spearman's rank correlation of `values` with their order, in [-1, 1]; ties get their mean rank.
// 0 for fewer than three values or when all are equal.
double rank_correlation_with_order(std::span<const double> values);

// Batches, and the rank correlation of their means above which a run drifts: |rho| of ten batches
// exceeds 0.65 in 4 % of runs without drift.
inline constexpr size_t kDriftBatches = 10;
inline constexpr double kDriftCorrelationMax = 0.65;

// Whether the means of kDriftBatches batches in order rise or fall. False for fewer than two
// values a batch.
bool is_drifting(std::span<const double> values);

}  // namespace hw::statistics
