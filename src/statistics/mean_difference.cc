#include "statistics/mean_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/assert.h"
#include "statistics/dependence.h"
#include "statistics/distribution.h"

namespace hw::statistics {
namespace {

double quantile_of(double p, double degrees) {
  return std::isinf(degrees) ? normal_quantile(p) : t_quantile(p, degrees);
}

double cdf_of(double t, double degrees) {
  return std::isinf(degrees) ? normal_cdf(t) : t_cdf(t, degrees);
}

}  // namespace

double MeanDifference::lower(double alpha) const {
  return difference - quantile_of(1 - alpha, degrees) * standard_error;
}

double MeanDifference::upper(double alpha) const {
  return difference + quantile_of(1 - alpha, degrees) * standard_error;
}

double MeanDifference::p_above(double margin) const {
  const double beyond = difference - margin;
  if (standard_error == 0) return beyond > 0 ? 0 : beyond < 0 ? 1 : 0.5;
  return cdf_of(-beyond / standard_error, degrees);
}

double MeanDifference::p_below(double margin) const {
  const double beyond = difference - margin;
  if (standard_error == 0) return beyond < 0 ? 0 : beyond > 0 ? 1 : 0.5;
  return cdf_of(beyond / standard_error, degrees);
}

MeanDifference welch(std::span<const double> base, std::span<const double> next) {
  HW_ASSERT(base.size() >= 2 && next.size() >= 2);
  const auto of_base = static_cast<double>(base.size()), of_next = static_cast<double>(next.size());
  const double a = std::pow(standard_deviation(base), 2) / of_base;
  const double b = std::pow(standard_deviation(next), 2) / of_next;
  MeanDifference out;
  out.difference = mean(next) - mean(base);
  out.standard_error = std::sqrt(a + b);
  const double denominator = a * a / (of_base - 1) + b * b / (of_next - 1);
  out.degrees = denominator > 0 ? (a + b) * (a + b) / denominator : of_base + of_next - 2;
  return out;
}

MeanDifference paired(std::span<const double> base, std::span<const double> next) {
  HW_ASSERT(base.size() == next.size() && base.size() >= 2);
  std::vector<double> differences;
  for (size_t i = 0; i < base.size(); ++i) differences.push_back(next[i] - base[i]);
  const auto pairs = static_cast<double>(differences.size());
  return {mean(differences), standard_deviation(differences) / std::sqrt(pairs), pairs - 1};
}

MeanDifference against_archive(std::span<const double> base, double next) {
  HW_ASSERT(base.size() >= 2);
  const auto runs = static_cast<double>(base.size());
  return {next - mean(base), standard_deviation(base) * std::sqrt(1 + 1 / runs), runs - 1};
}

MeanDifference one_against_one(double base, double base_error, double next, double next_error,
                               double tau) {
  const double variance = base_error * base_error + next_error * next_error + 2 * tau * tau;
  return {next - base, std::sqrt(variance), std::numeric_limits<double>::infinity()};
}

int runs_needed(double spread, double change, double margin, double alpha, double power) {
  const double beyond = std::abs(change) - margin;
  if (beyond <= 0) return kRunsMax;
  const double z = normal_quantile(1 - alpha) + normal_quantile(power);
  const double runs = std::ceil(2 * z * z * spread * spread / (beyond * beyond));
  return static_cast<int>(std::clamp(runs, 2.0, static_cast<double>(kRunsMax)));
}

}  // namespace hw::statistics
