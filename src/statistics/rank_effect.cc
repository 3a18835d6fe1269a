#include "statistics/rank_effect.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "statistics/quantile.h"

namespace hw::statistics {

double mann_whitney_u(std::span<const double> base_sorted, std::span<const double> next_sorted) {
  double u = 0;
  size_t below = 0, not_above = 0;
  for (const double value : next_sorted) {
    while (below < base_sorted.size() && base_sorted[below] < value) ++below;
    not_above = std::max(not_above, below);
    while (not_above < base_sorted.size() && base_sorted[not_above] <= value) ++not_above;
    u += static_cast<double>(below) + static_cast<double>(not_above - below) / 2;
  }
  return u;
}

double cliffs_delta(std::span<const double> base_sorted, std::span<const double> next_sorted) {
  if (base_sorted.empty() || next_sorted.empty()) return 0;
  const double pairs =
      static_cast<double>(base_sorted.size()) * static_cast<double>(next_sorted.size());
  return 2 * mann_whitney_u(base_sorted, next_sorted) / pairs - 1;
}

std::string_view delta_grade(double delta) {
  const double size = std::abs(delta);
  if (size < 0.147) return "negligible";
  if (size < 0.33) return "small";
  return size < 0.474 ? "medium" : "large";
}

double hodges_lehmann(std::span<const double> base, std::span<const double> next) {
  HW_ASSERT(!base.empty() && !next.empty() && base.size() <= kPairsMax / next.size());
  std::vector<double> differences;
  differences.reserve(base.size() * next.size());
  for (const double after : next) {
    for (const double before : base) differences.push_back(after - before);
  }
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  if (differences.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(differences.begin(), middle)) / 2;
}

std::vector<Shift> shift_function(std::span<const double> base_sorted,
                                  std::span<const double> next_sorted) {
  std::vector<Shift> out;
  for (int percent = 5; percent <= 100; percent += 5) {
    const double p = percent == 100 ? 0.99 : percent / 100.0;
    out.push_back({p, quantile(base_sorted, p), quantile(next_sorted, p)});
  }
  return out;
}

}  // namespace hw::statistics
