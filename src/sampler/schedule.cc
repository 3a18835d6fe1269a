#include "sampler/schedule.h"

#include <cmath>

namespace hw::sampler {

Nanos Schedule::next() {
  const double arrivals = static_cast<double>(units_.next()) / 1e9;
  return static_cast<Nanos>(std::llround(offset_s(arrivals) * 1e9));
}

// When so many arrivals are expected: the inverse of the rate's integral.
double Schedule::offset_s(double arrivals) const {
  const double full = plan_.rate;
  if (plan_.ramp_ns <= 0) return arrivals / full;
  const double begin = full * kRampStart;
  const double warmup_s = static_cast<double>(plan_.warmup_ns) / 1e9;
  const double ramp_s = static_cast<double>(plan_.ramp_ns) / 1e9;
  const double in_warmup = begin * warmup_s;
  if (arrivals <= in_warmup) return arrivals / begin;
  const double behind = arrivals - in_warmup, in_ramp = (begin + full) / 2 * ramp_s;
  if (behind > in_ramp) return warmup_s + ramp_s + (behind - in_ramp) / full;
  const double slope = (full - begin) / ramp_s;
  return warmup_s + (std::sqrt(begin * begin + 2 * slope * behind) - begin) / slope;
}

}  // namespace hw::sampler
