#include "statistics/dependence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hw::statistics {
namespace {

// 1-based ranks; equal values share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + 1 + end) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    begin = end;
  }
  return ranks;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean(a), mean_b = mean(b);
  double both = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    of_a += (a[i] - mean_a) * (a[i] - mean_a);
    of_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return of_a == 0 || of_b == 0 ? 0 : both / std::sqrt(of_a * of_b);
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double lag1_autocorrelation(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const double centre = mean(values);
  double neighbours = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - centre) * (values[i] - centre);
    if (i > 0) neighbours += (values[i] - centre) * (values[i - 1] - centre);
  }
  return squares == 0 ? 0 : neighbours / squares;
}

double effective_size(size_t n, double rho) {
  constexpr double kRhoMax = 0.99;  // keeps a constant trend from making everything nothing
  const double bounded = std::clamp(rho, 0.0, kRhoMax);
  return static_cast<double>(n) * (1 - bounded) / (1 + bounded);
}

double rank_correlation_with_order(std::span<const double> values) {
  if (values.size() < 3) return 0;
  std::vector<double> order(values.size());
  std::iota(order.begin(), order.end(), 1.0);
  return correlation(ranks_of(values), order);
}

bool is_drifting(std::span<const double> values) {
  if (values.size() < 2 * kDriftBatches) return false;
  std::vector<double> means;
  for (size_t i = 0; i < kDriftBatches; ++i) {
    const size_t begin = values.size() * i / kDriftBatches;
    const size_t end = values.size() * (i + 1) / kDriftBatches;
    means.push_back(mean(values.subspan(begin, end - begin)));
  }
  return std::abs(rank_correlation_with_order(means)) > kDriftCorrelationMax;
}

}  // namespace hw::statistics
