// Schedule: when requests of an open loop are meant to begin: arrivals at a rate that may climb to
// its height first. Absolute, made from a seed; nothing shifts it. Pure.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "workload/arrivals.h"

namespace hw::sampler {

// The load's shape over time.
struct SchedulePlan {
  workload::ArrivalKind kind = workload::ArrivalKind::kPoisson;
  double rate = 1;        // requests a second once steady; above 0
  double burstiness = 1;  // of gamma arrivals
  Nanos warmup_ns = 0;    // before the ramp, at the rate that it begins with
  Nanos ramp_ns = 0;      // from kRampStart of the rate to all of it, linearly
  uint64_t seed = 0;
};

// Gives offsets from the beginning of the load, each at or after the one before.
class Schedule {
 public:
  static constexpr double kRampStart = 0.1;

  explicit Schedule(const SchedulePlan& plan)
      : plan_(plan), units_(plan.kind, 1, plan.burstiness, plan.seed) {}

  // The next intended offset in nanoseconds.
  Nanos next();

 private:
  double offset_s(double arrivals) const;

  const SchedulePlan plan_;
  // At one a second: its times are counts of expected arrivals, which offset_s() maps to when that
  // many are expected.
  workload::Arrivals units_;
};

}  // namespace hw::sampler
