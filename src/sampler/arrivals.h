// Arrivals: when requests of an open loop are meant to begin: an absolute schedule, made from a
// seed, that nothing shifts. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"

namespace hw::sampler {

// How gaps between arrivals are drawn.
enum class ArrivalKind : uint8_t {
  kPoisson,   // independent: exponential gaps
  kGamma,     // gaps of a gamma distribution; the shape is the burstiness
  kConstant,  // all alike
};
// "poisson" and so on.
std::string_view arrival_name(ArrivalKind kind);

// The load's shape over time.
struct ArrivalPlan {
  ArrivalKind kind = ArrivalKind::kPoisson;
  double rate = 1;        // requests a second once steady; above 0
  double burstiness = 1;  // shape of kGamma: below 1 bursty, 1 as kPoisson, large as kConstant
  Nanos warmup_ns = 0;    // before the ramp, at the rate that it begins with
  Nanos ramp_ns = 0;      // from kRampStart of the rate to all of it, linearly
  uint64_t seed = 0;
};

// Gives offsets from the beginning of the load, each at or after the one before.
class Arrivals {
 public:
  static constexpr double kRampStart = 0.1;

  explicit Arrivals(const ArrivalPlan& plan) : plan_(plan), random_(plan.seed) {}

  // The next intended offset in nanoseconds.
  Nanos next();
  // Requests a second that are meant at `offset`.
  double rate_at(Nanos offset) const;

 private:
  double gap();
  double normal();
  double gamma(double shape);

  const ArrivalPlan plan_;
  Random random_;
  double at_ns_ = 0;
};

}  // namespace hw::sampler
