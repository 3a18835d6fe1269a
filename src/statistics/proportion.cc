#include "statistics/proportion.h"

#include <algorithm>
#include <cmath>

#include "statistics/distribution.h"

namespace hw::statistics {
namespace {

struct Interval {
  double low, high;
};

Interval wilson(Count count, double z) {
  const auto n = static_cast<double>(count.n);
  const double share = static_cast<double>(count.hits) / n;
  const double centre = share + z * z / (2 * n);
  const double half = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  return {(centre - half) / scale, (centre + half) / scale};
}

}  // namespace

double fisher_p_above(Count base, Count next) {
  if (base.n == 0 || next.n == 0) return 1;
  const uint64_t marked = base.hits + next.hits;
  double p = 0;
  for (uint64_t k = next.hits; k <= std::min(marked, next.n); ++k) {
    p += hypergeometric_pdf(k, marked, next.n, base.n + next.n);
  }
  return std::min(1.0, p);
}

ShareDifference newcombe(Count base, Count next, double level) {
  if (base.n == 0 || next.n == 0) return {0, -1, 1};
  const double z = normal_quantile(1 - (1 - level) / 2);
  const double before = static_cast<double>(base.hits) / static_cast<double>(base.n);
  const double after = static_cast<double>(next.hits) / static_cast<double>(next.n);
  const Interval of_base = wilson(base, z), of_next = wilson(next, z);
  const double difference = after - before;
  const auto far = [](double a, double b) { return std::sqrt(a * a + b * b); };
  return {difference, difference - far(after - of_next.low, of_base.high - before),
          difference + far(of_next.high - after, before - of_base.low)};
}

}  // namespace hw::statistics
