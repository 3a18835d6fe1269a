// Metric: what is measured of a request, each with the formula that defines it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runs/record.h"

namespace hw::runs {

// In the order of summary.json.
enum class Metric : uint8_t {
  kTtft,
  kTtfo,
  kTtff,
  kTtst,
  kTbt,  // many a request: every gap between neighbouring token events
  kTpot,
  kE2e,
  kTtftResponse,
  kE2eResponse,
  kConnect,
  kSchedLag,
  kTail,
};
inline constexpr int kMetricCount = static_cast<int>(Metric::kTail) + 1;

// "ttft", "ttft_response", ...
std::string_view metric_name(Metric metric);
// The formula, for people: "t_tok[0] - t_tx0: ...".
std::string_view metric_definition(Metric metric);

// The value of a request that ended well, in nanoseconds; nothing where the record lacks a stamp,
// the formula has no meaning (TPOT of one token), or for kTbt. Never 0 in place of nothing, but for
// kConnect, which is 0 on a reused connection.
std::optional<double> metric_ns(Metric metric, const Record& record);

// How long a request had been waited for when its time-out fired: a lower bound of the value that
// it would have had. Nothing where the value was reached before, or cannot be told.
std::optional<double> censored_ns(Metric metric, const Record& record);

}  // namespace hw::runs
