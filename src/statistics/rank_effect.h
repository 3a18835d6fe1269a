// How two samples differ in shape: effect sizes for explanation, never for a verdict, since values
// of one run depend on each other.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace hw::statistics {

// Mann-Whitney's U of `next`: pairs in which it is above, ties a half. Both sides sorted.
double mann_whitney_u(std::span<const double> base_sorted, std::span<const double> next_sorted);

// Cliff's delta = 2 U / (n m) - 1, in [-1, 1]; positive: `next` is larger. 0 where a side is empty.
double cliffs_delta(std::span<const double> base_sorted, std::span<const double> next_sorted);

// "negligible" below 0.147, "small" below 0.33, "medium" below 0.474, else "large" (Romano 2006).
std::string_view delta_grade(double delta);

// Median of all differences next - base. Precondition: neither is empty, and the product of their
// sizes is at most kPairsMax.
inline constexpr size_t kPairsMax = 4'000'000;
double hodges_lehmann(std::span<const double> base, std::span<const double> next);

// Quantile by quantile (Doksum 1974): 0.05, 0.10, ... 0.95, 0.99.
struct Shift {
  double quantile = 0;
  double base = 0, next = 0;  // the quantile's value on each side
};
// Precondition: both are sorted and not empty.
std::vector<Shift> shift_function(std::span<const double> base_sorted,
                                  std::span<const double> next_sorted);

}  // namespace hw::statistics
