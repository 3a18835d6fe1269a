#include "sampler/schedule.h"

#include <doctest/doctest.h>

namespace hw::sampler {
namespace {

SchedulePlan constant(double rate) {
  SchedulePlan out;
  out.kind = workload::ArrivalKind::kConstant;
  out.rate = rate;
  return out;
}

TEST_CASE("constant arrivals are multiples of the gap, also after a million of them") {
  Schedule schedule(constant(200));
  Nanos last = 0;
  for (int i = 0; i < 1'000'000; ++i) last = schedule.next();
  CHECK(last == 1'000'000 * (5 * kMillisecond));
}

TEST_CASE("a ramp begins at a tenth of the rate and has reached it at its end") {
  SchedulePlan plan = constant(100);
  plan.warmup_ns = 2 * kSecond;
  plan.ramp_ns = 4 * kSecond;
  Schedule schedule(plan);
  int in_warmup = 0, in_ramp = 0, in_steady = 0;
  for (Nanos at = schedule.next(); at < 8 * kSecond; at = schedule.next()) {
    if (at <= plan.warmup_ns) {
      ++in_warmup;
    } else {
      ++(at <= plan.warmup_ns + plan.ramp_ns ? in_ramp : in_steady);
    }
  }
  CHECK(in_warmup == 20);  // 2 s at 10/s
  CHECK(in_ramp == 220);   // 4 s at 55/s on average
  CHECK(in_steady >= 199);
  CHECK(in_steady <= 200);
}

TEST_CASE("offsets never go back and come again from the same seed") {
  SchedulePlan plan;
  plan.rate = 50;
  plan.ramp_ns = kSecond;
  plan.seed = 7;
  Schedule one(plan), two(plan);
  Nanos last = 0;
  for (int i = 0; i < 1000; ++i) {
    const Nanos at = one.next();
    CHECK(at >= last);
    CHECK(two.next() == at);
    last = at;
  }
  // 1000 arrivals at 50/s, of which the ramp delays some.
  CHECK(last > 17 * kSecond);
  CHECK(last < 24 * kSecond);
}

}  // namespace
}  // namespace hw::sampler
