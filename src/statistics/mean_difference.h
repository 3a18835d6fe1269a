// The difference of two means whose units are runs, with its bounds: Welch, paired, and one new
// value against many.
#pragma once

#include <span>

namespace hw::statistics {

// new - base. `degrees` may be infinite (a normal distribution).
struct MeanDifference {
  double difference = 0;
  double standard_error = 0;
  double degrees = 1;

  // One-sided bounds at error rate `alpha` in (0, 1): the difference is above lower() but in alpha
  // of cases. TOST at alpha: equivalent where both lie within the margin.
  double lower(double alpha) const;
  double upper(double alpha) const;
  // One-sided p of "not above `margin`", and of "not below `margin`". With a standard error of 0:
  // 0 or 1, and 1/2 on the margin.
  double p_above(double margin) const;
  double p_below(double margin) const;
};

// Welch's t with Satterthwaite's degrees of freedom (Welch 1947). Precondition: two or more values
// on each side.
MeanDifference welch(std::span<const double> base, std::span<const double> next);

// Of pairs: t on their differences. Precondition: equal sizes, two or more.
MeanDifference paired(std::span<const double> base, std::span<const double> next);

// One new value against an archive: standard error s sqrt(1 + 1/K), K - 1 degrees; its bounds are
// the prediction interval. Precondition: two or more values in `base`.
MeanDifference against_archive(std::span<const double> base, double next);

// One value against one, each with its own standard error, and the spread `tau` from run to run on
// both: sqrt(a^2 + b^2 + 2 tau^2), normal.
MeanDifference one_against_one(double base, double base_error, double next, double next_error,
                               double tau);

// Runs a side with which a true change of `change` (log) beyond `margin` (log) is found with
// `power` at one-sided `alpha`, by runs that spread by `spread` (log). At least 2; the normal
// approximation 2 (z_alpha + z_power)^2 spread^2 / (change - margin)^2. kRunsMax where the change
// is not beyond the margin or more would be needed.
inline constexpr int kRunsMax = 1000;
int runs_needed(double spread, double change, double margin, double alpha, double power);

}  // namespace hw::statistics
