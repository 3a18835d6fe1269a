#include "base/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace hw {
namespace {

TEST_CASE("an empty histogram answers with 0") {
  const Histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.min() == 0);
  CHECK(empty.max() == 0);
  CHECK(empty.mean() == 0);
  CHECK(empty.quantile(0.5) == 0);
}

TEST_CASE("values below 64 are kept exactly") {
  Histogram histogram;
  for (Nanos value = 0; value < 64; ++value) histogram.record(value);
  for (int i = 1; i <= 64; ++i) CHECK(histogram.quantile(i / 64.0) == i - 1);
}

TEST_CASE("each value alone comes back within 1 % over the whole range") {
  for (int power = 0; power < 63; ++power) {
    for (const Nanos share : {0, 1, 2, 3}) {
      const Nanos value = (Nanos{1} << power) + (Nanos{1} << power) / 4 * share;
      Histogram histogram;
      histogram.record(0);
      histogram.record(value);
      histogram.record(INT64_MAX);
      const double error = std::fabs(static_cast<double>(histogram.quantile(0.6) - value));
      CHECK(error <= 0.01 * static_cast<double>(value));
    }
  }
}

TEST_CASE("quantiles of random values are within 1 % of the sorted ones") {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Histogram histogram;
    std::vector<Nanos> values;
    const uint64_t count = 1 + random.below(3000);
    for (uint64_t i = 0; i < count; ++i) {
      const auto value = static_cast<Nanos>(random.next() >> (1 + random.below(60)));
      histogram.record(value);
      values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const double rank = std::max(1.0, std::ceil(q * static_cast<double>(count)));
      const Nanos exact = values[static_cast<size_t>(rank) - 1];
      const double error = std::fabs(static_cast<double>(histogram.quantile(q) - exact));
      CHECK(error <= 0.01 * static_cast<double>(exact));
    }
    CHECK(histogram.min() == values.front());
    CHECK(histogram.max() == values.back());
    CHECK(histogram.count() == count);
  }
}

TEST_CASE("quantiles never leave the range of what was recorded") {
  Histogram histogram;
  histogram.record(1'000'001);
  CHECK(histogram.quantile(0) == 1'000'001);
  CHECK(histogram.quantile(0.5) == 1'000'001);
  CHECK(histogram.quantile(7) == 1'000'001);
  CHECK(histogram.quantile(-7) == 1'000'001);
}

TEST_CASE("a negative value counts as 0") {
  Histogram histogram;
  histogram.record(-5);
  CHECK(histogram.min() == 0);
  CHECK(histogram.quantile(0.5) == 0);
}

TEST_CASE("recording a value n times is recording it n times") {
  Histogram once, often;
  for (int i = 0; i < 10; ++i) once.record(777);
  often.record(777, 10);
  often.record(5, 0);
  CHECK(often.count() == once.count());
  CHECK(often.min() == once.min());
  CHECK(often.mean() == once.mean());
}

TEST_CASE("merged histograms answer as one that has seen everything") {
  Random random(3);
  Histogram all, left, right, empty;
  for (int i = 0; i < 5000; ++i) {
    const auto value = static_cast<Nanos>(random.below(1'000'000'000));
    all.record(value);
    (i % 3 == 0 ? left : right).record(value);
  }
  left.merge(right);
  left.merge(empty);
  empty.merge(left);
  for (const Histogram* merged : {&left, &empty}) {
    CHECK(merged->count() == all.count());
    CHECK(merged->min() == all.min());
    CHECK(merged->max() == all.max());
    CHECK(merged->mean() == doctest::Approx(all.mean()));
    for (const double q : {0.1, 0.5, 0.99}) CHECK(merged->quantile(q) == all.quantile(q));
  }
}

TEST_CASE("a cleared histogram is as new") {
  Histogram histogram;
  histogram.record(100);
  histogram.clear();
  CHECK(histogram.count() == 0);
  histogram.record(3);
  CHECK(histogram.max() == 3);
}

}  // namespace
}  // namespace hw
