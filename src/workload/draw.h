// Draws from the distributions that loads are made of.
#pragma once

#include "base/random.h"

namespace hw::workload {

// Exponential with mean 1.
double draw_exponential(Random& random);
// Standard normal.
double draw_normal(Random& random);
// Gamma with this shape, above 0, and scale 1 (Marsaglia and Tsang, "A simple method for generating
// gamma variables", 2000).
double draw_gamma(double shape, Random& random);

}  // namespace hw::workload
