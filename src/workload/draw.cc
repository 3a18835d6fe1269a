#include "workload/draw.h"

#include <cmath>
#include <numbers>

namespace hw::workload {
namespace {

// Above 0, at most 1.
double positive_unit(Random& random) {
  return 1 - random.unit();
}

}  // namespace

double draw_exponential(Random& random) {
  return -std::log(positive_unit(random));
}

// Box and Muller, 1958; the second value is let go, so that a draw is two numbers of the generator.
double draw_normal(Random& random) {
  const double radius = std::sqrt(2 * draw_exponential(random));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

double draw_gamma(double shape, Random& random) {
  if (shape < 1) {
    const double boost = std::pow(positive_unit(random), 1 / shape);
    return boost * draw_gamma(shape + 1, random);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draw_normal(random);
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(positive_unit(random)) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace hw::workload
