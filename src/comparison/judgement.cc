#include "comparison/judgement.h"

#include <cmath>

#include "base/text.h"

namespace hw::comparison {
namespace {

using runs::Metric;

// Margins grow with the quantile, because what a sample can carry does; floors are what no reader
// of a stream can notice.
constexpr Judged kJudged[] = {
    {Metric::kTtft, 0.50, 0.03, 1.0, Role::kPrimary},
    {Metric::kTpot, 0.50, 0.03, 0.2, Role::kPrimary},
    {Metric::kE2e, 0.95, 0.05, 1.0, Role::kPrimary},
    {Metric::kTtft, 0.95, 0.05, 1.0, Role::kShown},
    {Metric::kTtft, 0.99, 0.10, 1.0, Role::kShown},
    {Metric::kTpot, 0.95, 0.05, 0.2, Role::kShown},
    {Metric::kTbt, 0.95, 0.05, 0.2, Role::kShown},
    {Metric::kTbt, 0.99, 0.10, 0.2, Role::kShown},
    {Metric::kE2e, 0.50, 0.03, 1.0, Role::kShown},
    {Metric::kTtftResponse, 0.95, 0.05, 1.0, Role::kShown},
};

}  // namespace

std::span<const Judged> judged() {
  return kJudged;
}

std::string quantile_name(double quantile) {
  return concat("p", static_cast<int>(std::lround(quantile * 100)));
}

}  // namespace hw::comparison
