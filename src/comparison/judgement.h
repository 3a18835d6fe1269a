// Judgement: what is compared, by which margin, and whether it counts for the verdict.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runs/metric.h"

namespace hw::comparison {

// Changes with less than this chance of being noise are believed, for the family as a whole.
inline constexpr double kAlpha = 0.05;
inline constexpr double kPower = 0.8;          // for "runs that would decide"
inline constexpr int kDesignedRunsMin = 5;     // a side, for Welch
inline constexpr int kArchiveRunsMin = 8;      // of the base, for the prediction interval
inline constexpr int kPermutationRunsMin = 6;  // a side: below, the smallest p is too coarse
// Spread from run to run that is assumed, as a share, where no history tells it.
inline constexpr double kAssumedSpread = 0.05;
// A share of errors must rise by this much to count, and lie within that to be equal.
inline constexpr double kErrorRise = 0.005;
inline constexpr double kErrorMargin = 0.02;

// Whether an item decides or is only shown.
enum class Role : unsigned char { kPrimary, kShown };

// A quantile of a metric. Changes within `margin` (a share) or `floor_ms` are no change.
struct Judged {
  runs::Metric metric;
  double quantile;
  double margin;
  double floor_ms;
  Role role;
};

// The primary ones first.
std::span<const Judged> judged();

// "p50", "p95", ...
std::string quantile_name(double quantile);

}  // namespace hw::comparison
