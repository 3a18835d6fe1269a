// CUSUM: slow drift over a row of accepted runs, each too small a step for a test of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hw::statistics {

// Slack and alarm in standard deviations (Page 1954): finds a lasting shift of one standard
// deviation after about ten runs, and alarms without one about every 465 (one-sided 930).
inline constexpr double kCusumSlack = 0.5;
inline constexpr double kCusumAlarm = 5;

// Index of the first value at which the upper or the lower sum passes kCusumAlarm; nothing where
// neither does. Precondition: deviation > 0.
std::optional<size_t> cusum_alarm(std::span<const double> values, double mean, double deviation);

}  // namespace hw::statistics
