#include "statistics/quantile.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "statistics/bootstrap.h"
#include "statistics/control_chart.h"
#include "statistics/dependence.h"
#include "statistics/distribution.h"
#include "statistics/mean_difference.h"
#include "statistics/permutation.h"
#include "statistics/rank_effect.h"

namespace hw::statistics {
namespace {

TEST_CASE("nearest rank is ceil(n p), whatever the rounding of the product") {
  CHECK(nearest_rank(0.5, 50) == 25);
  CHECK(nearest_rank(0.99, 100) == 99);
  CHECK(nearest_rank(0.95, 20) == 19);
  CHECK(nearest_rank(0.07, 100) == 7);
  CHECK(nearest_rank(1, 3) == 3);
  CHECK(nearest_rank(0, 3) == 1);
  CHECK(nearest_rank(0.999, 3) == 3);
  const std::vector<double> sorted = {1, 2, 3, 4};
  CHECK(quantile(sorted, 0.5) == 2);
}

TEST_CASE("the smallest samples with an upper end are those of the table") {
  CHECK(minimum_samples(0.50, 0.95, Sides::kTwo) == 6);
  CHECK(minimum_samples(0.90, 0.95, Sides::kTwo) == 36);
  CHECK(minimum_samples(0.95, 0.95, Sides::kTwo) == 72);
  CHECK(minimum_samples(0.99, 0.95, Sides::kTwo) == 368);
  CHECK(minimum_samples(0.999, 0.95, Sides::kTwo) == 3688);
  CHECK(minimum_samples(0.99, 0.95, Sides::kOne) == 299);
  CHECK(minimum_samples(0.99, 0.99, Sides::kTwo) == 528);
}

TEST_CASE("an upper end exists from the smallest sample on and not below it") {
  for (const double p : {0.5, 0.9, 0.95, 0.99}) {
    const size_t least = minimum_samples(p, 0.95, Sides::kTwo);
    CHECK(quantile_ranks(least, p, 0.95).high.has_value());
    CHECK_FALSE(quantile_ranks(least - 1, p, 0.95).high.has_value());
  }
}

TEST_CASE("dependence widens the interval and takes away ends that too few values have") {
  const RankInterval plain = quantile_ranks(1000, 0.5, 0.95);
  const RankInterval wide = quantile_ranks(1000, 0.5, 0.95, 250);
  CHECK(*wide.low < *plain.low - 25);
  CHECK(*wide.high > *plain.high + 25);
  CHECK_FALSE(quantile_ranks(1000, 0.99, 0.95, 200).high.has_value());
  CHECK(quantile_ranks(1000, 0.5, 0.95, 1000).low == plain.low);
  CHECK_FALSE(quantile_ranks(0, 0.5, 0.95).low.has_value());
}

TEST_CASE("the interval holds the true quantile as often as it says") {
  Random random(3);
  int held = 0;
  constexpr int kRounds = 2000;
  std::vector<double> values(100);
  for (int round = 0; round < kRounds; ++round) {
    for (double& value : values) value = random.unit();
    std::sort(values.begin(), values.end());
    const RankInterval ranks = quantile_ranks(values.size(), 0.9, 0.95);
    held += values[*ranks.low - 1] <= 0.9 && 0.9 <= values[*ranks.high - 1] ? 1 : 0;
  }
  CHECK(held >= 0.94 * kRounds);  // at least 95 % by theory, less two standard errors
}

TEST_CASE("a block is as long as the values depend on each other") {
  CHECK(block_length(1000, 0) == 1);
  CHECK(block_length(1000, -0.5) == 1);
  CHECK(block_length(1000, 0.7) == 20);  // (1.4 / 0.51)^(2/3) * 10 = 19.6
  CHECK(block_length(3, 0.99) == 3);
}

TEST_CASE("the bootstrap's error of the median is the theory's") {
  Random random(5);
  std::vector<double> values(1000);
  for (double& value : values) {
    value = std::exp(0.6 * normal_quantile(random.unit() * 0.999998 + 1e-6));
  }
  const double error = log_quantile_error(values, 0.5, 300, random);
  CHECK(error == doctest::Approx(0.75 / std::sqrt(1000)).epsilon(0.25));
}

TEST_CASE("drift is seen in a slow rise and not in noise") {
  Random random(11);
  int flat_alarms = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<double> values(200);
    for (double& value : values) value = random.unit();
    flat_alarms += is_drifting(values) ? 1 : 0;
    for (size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(i) / 100;
    CHECK(is_drifting(values));
  }
  CHECK(flat_alarms < 0.07 * 500);
}

TEST_CASE("CUSUM alarms at a lasting small shift and not before it") {
  std::vector<double> values(60, 0.0);
  CHECK_FALSE(cusum_alarm(values, 0, 1).has_value());
  std::fill(values.begin() + 30, values.end(), 1.0);
  CHECK(cusum_alarm(values, 0, 1) == 40);  // half a deviation a step: above 5 after eleven
  std::fill(values.begin() + 30, values.end(), -1.0);
  CHECK(cusum_alarm(values, 0, 1) == 40);
}

TEST_CASE("effect sizes: delta counts pairs, Hodges-Lehmann gives the shift") {
  const std::vector<double> base = {1, 2, 3}, next = {4, 5, 6};
  CHECK(cliffs_delta(base, next) == 1);
  CHECK(cliffs_delta(next, base) == -1);
  CHECK(cliffs_delta(base, base) == 0);
  CHECK(delta_grade(0.1) == "negligible");
  CHECK(delta_grade(-0.5) == "large");
  CHECK(hodges_lehmann(base, next) == 3);
  CHECK(shift_function(base, next).size() == 20);
  CHECK(shift_function(base, next).back().quantile == 0.99);
}

TEST_CASE("runs needed grow with the spread and end where the change is within the margin") {
  const double margin = std::log(1.05);
  const int few = runs_needed(0.03, std::log(1.2), margin, 0.05, 0.8);
  CHECK(few >= 2);
  CHECK(runs_needed(0.10, std::log(1.2), margin, 0.05, 0.8) > few);
  CHECK(runs_needed(0.03, std::log(1.04), margin, 0.05, 0.8) == kRunsMax);
}

TEST_CASE("with many runs the permutation test deals at random and comes to the same") {
  Random random(13);
  std::vector<double> base, next;
  for (int i = 0; i < 12; ++i) {
    base.push_back(random.unit());
    next.push_back(random.unit() + 0.25);
  }
  const double p = permutation_p_above(base, next, random);
  CHECK(p == doctest::Approx(welch(base, next).p_above(0)).epsilon(0.25));
}

}  // namespace
}  // namespace hw::statistics
