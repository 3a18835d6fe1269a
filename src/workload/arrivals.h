// Arrivals: the times at which an open loop sends, on a schedule that nothing shifts.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/random.h"

namespace hw::workload {

// The law of the gaps.
enum class ArrivalKind : unsigned char {
  kPoisson,   // exponential gaps: callers that know nothing of each other
  kGamma,     // burstier or smoother, by `burstiness`
  kConstant,  // all the same
};
// "poisson", "gamma", "constant"; false for anything else.
bool parse_arrival_kind(std::string_view name, ArrivalKind& out);

// Gaps are independent, with mean 1 / rate. With gamma their shape is `burstiness`, as in vLLM:
// below 1 bursts, 1 is Poisson, above it ever more even (coefficient of variation 1/sqrt(shape)).
// Unlike there the times are not rescaled to end at N / rate, which would make the number of
// arrivals in a while less random than it is in life.
class Arrivals {
 public:
  // `per_second` above 0, `burstiness` above 0.
  Arrivals(ArrivalKind kind, double per_second, double burstiness, uint64_t seed);
  // The next one, from the start of the load; never before the last one. The first is one gap in.
  Nanos next();

 private:
  double gap_s();

  ArrivalKind kind_;
  double mean_gap_s_;
  double shape_;
  Random random_;
  double at_s_ = 0;
  int64_t count_ = 0;
};

}  // namespace hw::workload
