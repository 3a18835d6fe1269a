#include "sampler/arrivals.h"

#include <cmath>
#include <numbers>

namespace hw::sampler {

std::string_view arrival_name(ArrivalKind kind) {
  switch (kind) {
    case ArrivalKind::kPoisson:
      return "poisson";
    case ArrivalKind::kGamma:
      return "gamma";
    case ArrivalKind::kConstant:
      return "constant";
  }
  return "";
}

double Arrivals::rate_at(Nanos offset) const {
  if (plan_.ramp_ns <= 0 || offset >= plan_.warmup_ns + plan_.ramp_ns) return plan_.rate;
  if (offset < plan_.warmup_ns) return plan_.rate * kRampStart;
  const double part =
      static_cast<double>(offset - plan_.warmup_ns) / static_cast<double>(plan_.ramp_ns);
  return plan_.rate * (kRampStart + (1 - kRampStart) * part);
}

Nanos Arrivals::next() {
  const double mean_ns = 1e9 / rate_at(static_cast<Nanos>(at_ns_));
  at_ns_ += gap() * mean_ns;
  return static_cast<Nanos>(at_ns_);
}

// Of mean 1.
double Arrivals::gap() {
  switch (plan_.kind) {
    case ArrivalKind::kPoisson:
      return -std::log1p(-random_.unit());
    case ArrivalKind::kGamma:
      return gamma(plan_.burstiness) / plan_.burstiness;
    case ArrivalKind::kConstant:
      return 1;
  }
  return 1;
}

// Box and Muller 1958.
double Arrivals::normal() {
  const double radius = std::sqrt(-2 * std::log1p(-random_.unit()));
  return radius * std::cos(2 * std::numbers::pi * random_.unit());
}

// Marsaglia and Tsang 2000; below 1 by their boost of the shape.
double Arrivals::gamma(double shape) {
  if (shape < 1) {
    const double boost = std::pow(1 - random_.unit(), 1 / shape);
    return gamma(shape + 1) * boost;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - random_.unit();
    if (std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
  }
}

}  // namespace hw::sampler
