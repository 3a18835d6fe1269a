#include "workload/arrivals.h"

#include <cmath>

#include "base/assert.h"
#include "workload/draw.h"

namespace hw::workload {

bool parse_arrival_kind(std::string_view name, ArrivalKind& out) {
  if (name == "poisson") {
    out = ArrivalKind::kPoisson;
  } else if (name == "gamma") {
    out = ArrivalKind::kGamma;
  } else if (name == "constant") {
    out = ArrivalKind::kConstant;
  } else {
    return false;
  }
  return true;
}

Arrivals::Arrivals(ArrivalKind kind, double per_second, double burstiness, uint64_t seed)
    : kind_(kind), mean_gap_s_(1 / per_second), shape_(burstiness), random_(seed) {
  HW_ASSERT(per_second > 0 && burstiness > 0);
}

Nanos Arrivals::next() {
  ++count_;
  // A product, so that a long constant load does not drift by what sums lose.
  at_s_ =
      kind_ == ArrivalKind::kConstant ? mean_gap_s_ * static_cast<double>(count_) : at_s_ + gap_s();
  return static_cast<Nanos>(std::llround(at_s_ * 1e9));
}

double Arrivals::gap_s() {
  switch (kind_) {
    case ArrivalKind::kPoisson:
      return mean_gap_s_ * draw_exponential(random_);
    case ArrivalKind::kGamma:
      return mean_gap_s_ / shape_ * draw_gamma(shape_, random_);
    case ArrivalKind::kConstant:
      return mean_gap_s_;
  }
  return mean_gap_s_;
}

}  // namespace hw::workload
