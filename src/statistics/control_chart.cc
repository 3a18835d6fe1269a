#include "statistics/control_chart.h"

#include <algorithm>

#include "base/assert.h"

namespace hw::statistics {

std::optional<size_t> cusum_alarm(std::span<const double> values, double mean, double deviation) {
  HW_ASSERT(deviation > 0);
  double up = 0, down = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double step = (values[i] - mean) / deviation;
    up = std::max(0.0, up + step - kCusumSlack);
    down = std::max(0.0, down - step - kCusumSlack);
    if (up > kCusumAlarm || down > kCusumAlarm) return i;
  }
  return std::nullopt;
}

}  // namespace hw::statistics
