#include "statistics/distribution.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "base/assert.h"

namespace hw::statistics {

namespace policies = boost::math::policies;
// Arguments are checked here; an overflow is an infinity, not an exception.
using Quiet = policies::policy<policies::overflow_error<policies::ignore_error>,
                               policies::underflow_error<policies::ignore_error>,
                               policies::promote_double<false>>;
using Normal = boost::math::normal_distribution<double, Quiet>;
using StudentsT = boost::math::students_t_distribution<double, Quiet>;
using Binomial = boost::math::binomial_distribution<double, Quiet>;

double normal_cdf(double z) {
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

double normal_quantile(double p) {
  HW_ASSERT(p > 0 && p < 1);
  return boost::math::quantile(Normal(), p);
}

double t_cdf(double t, double degrees) {
  HW_ASSERT(degrees > 0);
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  return boost::math::cdf(StudentsT(degrees), t);
}

double t_quantile(double p, double degrees) {
  HW_ASSERT(p > 0 && p < 1 && degrees > 0);
  return boost::math::quantile(StudentsT(degrees), p);
}

double binomial_cdf(int64_t k, int64_t n, double p) {
  HW_ASSERT(n >= 0 && p >= 0 && p <= 1);
  if (k < 0) return 0;
  if (k >= n) return 1;
  return boost::math::cdf(Binomial(static_cast<double>(n), p), static_cast<double>(k));
}

namespace {
double log_choose(uint64_t n, uint64_t k) {
  const auto log_factorial = [](uint64_t m) {
    return boost::math::lgamma(static_cast<double>(m) + 1, Quiet());
  };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}
}  // namespace

double hypergeometric_pdf(uint64_t k, uint64_t marked, uint64_t draws, uint64_t total) {
  HW_ASSERT(marked <= total && draws <= total);
  if (k > marked || k > draws || draws - k > total - marked) return 0;
  return std::exp(log_choose(marked, k) + log_choose(total - marked, draws - k) -
                  log_choose(total, draws));
}

}  // namespace hw::statistics
