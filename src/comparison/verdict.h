// compare(): base runs against new runs, metric by metric, into one verdict.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comparison/judgement.h"
#include "comparison/run.h"

namespace hw::comparison {

// What can be said.
enum class Verdict : unsigned char {
  kFaster,
  kSlower,
  kEquivalent,    // shown to be within the margin
  kInconclusive,  // neither a change nor its absence is shown
  kSuspected,     // too few runs for more than a suspicion of "slower"
};
// "FASTER", "SLOWER", ...
std::string_view verdict_name(Verdict verdict);

// How the runs were set against each other.
enum class Method : unsigned char {
  kDesigned,  // A: kDesignedRunsMin or more on both sides
  kArchive,   // B: one or two new runs against kArchiveRunsMin or more
  kSingle,    // C: anything less
};
// "A", "B", "C".
std::string_view method_name(Method method);

// One row: a quantile of a metric, or the error rate, in one bucket.
struct MetricVerdict {
  std::string bucket;
  std::string metric;    // "ttft", ..., "error_rate"
  std::string quantile;  // "p50"; empty for the error rate
  Role role = Role::kShown;
  bool is_judged = false;     // reached its sample floor on every run
  std::string why_not;        // where it is not judged
  double base = 0, next = 0;  // geometric means over runs in ms; shares for the error rate
  // next / base - 1 with the 90 % interval (both one-sided bounds at 5 %); for the error rate the
  // difference of shares. `has_interval` is false where the runs carry none.
  double change = 0, low = 0, high = 0;
  bool has_interval = false;
  double p_slower = 1, p_faster = 1;           // corrected by Holm where primary and judged
  std::optional<double> permutation_p_slower;  // from kPermutationRunsMin runs on
  std::optional<int> runs_needed;              // a side, where inconclusive
  double cliffs_delta = 0;                     // of the runs' values: 1 where every new is above
  Verdict verdict = Verdict::kInconclusive;
};

// All of it.
struct Comparison {
  Verdict verdict = Verdict::kInconclusive;
  Method method = Method::kSingle;
  size_t base_runs = 0, new_runs = 0;
  double spread = 0;  // from run to run, as used by method C
  bool spread_is_assumed = false;
  bool needs_confirmation = false;  // B: a second run would decide
  std::optional<int> runs_needed;   // a side, the most that a primary row needs
  bool client_limited = false;      // a run measured its client: nothing is concluded
  std::vector<MetricVerdict> rows;
};

// Compares. Precondition: at least one run on each side. Pure and repeatable.
Comparison compare(const std::vector<Run>& base, const std::vector<Run>& next);

}  // namespace hw::comparison
