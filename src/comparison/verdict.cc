#include "comparison/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/assert.h"
#include "base/random.h"
#include "base/text.h"
#include "statistics/bootstrap.h"
#include "statistics/dependence.h"
#include "statistics/distribution.h"
#include "statistics/mean_difference.h"
#include "statistics/multiplicity.h"
#include "statistics/permutation.h"
#include "statistics/proportion.h"
#include "statistics/quantile.h"
#include "statistics/rank_effect.h"

namespace hw::comparison {
namespace {

using statistics::MeanDifference;
using Values = std::vector<double>;

// Draws of the permutation test come from here, so that an answer can be had again.
constexpr uint64_t kSeed = 0x5eed;
// Of ln(x(u) / x(l)) of a 95 % interval to one standard error.
constexpr double kInterval95 = 2 * 1.959963984540054;

Method method_of(size_t base, size_t next) {
  if (base >= kDesignedRunsMin && next >= kDesignedRunsMin) return Method::kDesigned;
  if (base >= kArchiveRunsMin && next <= 2) return Method::kArchive;
  return Method::kSingle;
}

// Buckets that every run has; "all" only where nothing finer is, because a mix of lengths moves it.
std::vector<std::string> buckets_of(const std::vector<Run>& base, const std::vector<Run>& next) {
  std::vector<std::string> out;
  const auto in_all = [&](const std::vector<Run>& runs, const std::string& name) {
    return std::all_of(runs.begin(), runs.end(),
                       [&](const Run& run) { return run.bucket(name) != nullptr; });
  };
  for (const runs::BucketSummary& bucket : base.front().summary.buckets) {
    if (bucket.name == runs::kAllBucket) continue;
    if (in_all(base, bucket.name) && in_all(next, bucket.name)) out.push_back(bucket.name);
  }
  if (out.empty()) out.emplace_back(runs::kAllBucket);
  return out;
}

const std::optional<runs::QuantileEstimate>& estimate_of(const runs::MetricSummary& metric,
                                                         double quantile) {
  if (quantile < 0.7) return metric.p50;
  if (quantile < 0.93) return metric.p90;
  return quantile < 0.97 ? metric.p95 : metric.p99;
}

// One side of a row: a log quantile a run, and what stands against using it.
struct Side {
  Values logs;
  Values errors;  // standard error of each within its run
  bool complete = true, floor_reached = true, is_bound = false;
};

double error_within(const runs::QuantileEstimate& estimate) {
  if (estimate.low && *estimate.low > 0 && std::isfinite(estimate.high)) {
    return std::log(estimate.high / *estimate.low) / kInterval95;
  }
  return std::numeric_limits<double>::infinity();
}

Side side_of(const std::vector<Run>& runs, const std::string& bucket, const Judged& judged) {
  Side out;
  const auto floor = static_cast<double>(
      statistics::minimum_samples(judged.quantile, 0.95, statistics::Sides::kTwo));
  for (const Run& run : runs) {
    const runs::MetricSummary& metric = run.bucket(bucket)->of(judged.metric);
    const auto& estimate = estimate_of(metric, judged.quantile);
    if (!estimate || !(estimate->value > 0)) {
      out.complete = false;
      return out;
    }
    out.logs.push_back(std::log(estimate->value));
    out.errors.push_back(error_within(*estimate));
    out.floor_reached = out.floor_reached && metric.n_effective >= floor;
    out.is_bound = out.is_bound || estimate->at_least;
  }
  return out;
}

double mean_square(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// C: every run with its own error, and the spread between runs.
MeanDifference single_difference(const Side& base, const Side& next, double spread) {
  const auto runs_base = static_cast<double>(base.logs.size());
  const auto runs_next = static_cast<double>(next.logs.size());
  const double variance = (mean_square(base.errors) + spread * spread) / runs_base +
                          (mean_square(next.errors) + spread * spread) / runs_next;
  return {statistics::mean(next.logs) - statistics::mean(base.logs), std::sqrt(variance),
          std::numeric_limits<double>::infinity()};
}

// The margin in logs, at least the absolute floor at this level.
double log_margin(const Judged& judged, double base_ms) {
  return std::log1p(std::max(judged.margin, judged.floor_ms / base_ms));
}

// A row while it is being decided.
struct Row {
  MetricVerdict out;
  bool equivalent = false;
  bool may_be_faster = true;  // false where a time-out bounds the new side from below only
  double spread = 0, change_log = 0, margin = 0;
};

void fill_difference(Row& row, const MeanDifference& difference) {
  row.out.change = std::expm1(difference.difference);
  row.out.has_interval = std::isfinite(difference.standard_error);
  if (!row.out.has_interval) return;
  const double low = difference.lower(kAlpha), high = difference.upper(kAlpha);
  row.out.low = std::expm1(low), row.out.high = std::expm1(high);
  row.out.p_slower = difference.p_above(row.margin);
  row.out.p_faster = difference.p_below(-row.margin);
  row.equivalent = low > -row.margin && high < row.margin;
}

// B: each new run by itself; the one that says less counts, so that two must agree.
void fill_archive(Row& row, const Side& base, const Side& next) {
  fill_difference(row, statistics::against_archive(base.logs, next.logs.front()));
  for (size_t i = 1; i < next.logs.size(); ++i) {
    Row other;
    other.margin = row.margin;
    fill_difference(other, statistics::against_archive(base.logs, next.logs[i]));
    row.out.p_slower = std::max(row.out.p_slower, other.out.p_slower);
    row.out.p_faster = std::max(row.out.p_faster, other.out.p_faster);
    row.out.low = std::min(row.out.low, other.out.low);
    row.out.high = std::max(row.out.high, other.out.high);
    row.equivalent = row.equivalent && other.equivalent;
  }
  row.out.change = std::expm1(statistics::mean(next.logs) - statistics::mean(base.logs));
}

void fill_permutation(Row& row, const Side& base, const Side& next) {
  if (std::min(base.logs.size(), next.logs.size()) < kPermutationRunsMin) return;
  Values moved = base.logs;
  for (double& log : moved) log += row.margin;
  Random random(kSeed);
  row.out.permutation_p_slower = statistics::permutation_p_above(moved, next.logs, random);
}

double delta_of(Values base, Values next) {
  std::sort(base.begin(), base.end());
  std::sort(next.begin(), next.end());
  return statistics::cliffs_delta(base, next);
}

std::string why_not_judged(const Side& base, const Side& next, const Judged& judged) {
  if (!base.floor_reached || !next.floor_reached) {
    return concat("needs ",
                  statistics::minimum_samples(judged.quantile, 0.95, statistics::Sides::kTwo),
                  " independent samples a run");
  }
  if (base.is_bound) return "time-outs reach the quantile of the base";
  return {};
}

double spread_of(const Side& base, const Side& next, double assumed) {
  const double both = std::max(statistics::standard_deviation(base.logs),
                               statistics::standard_deviation(next.logs));
  return both > 0 ? both : assumed;
}

std::optional<Row> quantile_row(const std::vector<Run>& base_runs, const std::vector<Run>& new_runs,
                                const std::string& bucket, const Judged& judged,
                                Comparison& comparison) {
  const Side base = side_of(base_runs, bucket, judged), next = side_of(new_runs, bucket, judged);
  if (!base.complete || !next.complete) return std::nullopt;
  Row row;
  row.out.bucket = bucket;
  row.out.metric = runs::metric_name(judged.metric);
  row.out.quantile = quantile_name(judged.quantile);
  row.out.role = judged.role;
  row.out.base = std::exp(statistics::mean(base.logs));
  row.out.next = std::exp(statistics::mean(next.logs));
  row.out.cliffs_delta = delta_of(base.logs, next.logs);
  row.margin = log_margin(judged, row.out.base);
  row.change_log = statistics::mean(next.logs) - statistics::mean(base.logs);
  row.spread = spread_of(base, next, comparison.spread);
  switch (comparison.method) {
    case Method::kDesigned:
      fill_difference(row, statistics::welch(base.logs, next.logs));
      fill_permutation(row, base, next);
      break;
    case Method::kArchive:
      fill_archive(row, base, next);
      break;
    case Method::kSingle:
      fill_difference(row, single_difference(base, next, comparison.spread));
      break;
  }
  row.out.why_not = why_not_judged(base, next, judged);
  row.out.is_judged = row.out.why_not.empty() && row.out.has_interval;
  row.may_be_faster = !next.is_bound;
  row.equivalent = row.equivalent && row.may_be_faster;
  return row;
}

statistics::Count errors_of(const Run& run, const std::string& bucket) {
  const runs::OutcomeCounts& counts = run.bucket(bucket)->counts;
  return {counts.failed(), counts.judged()};
}

struct ErrorSide {
  statistics::Count all;
  Values rates;
};

ErrorSide errors_of(const std::vector<Run>& runs, const std::string& bucket) {
  ErrorSide out;
  for (const Run& run : runs) {
    const statistics::Count count = errors_of(run, bucket);
    out.all.hits += count.hits, out.all.n += count.n;
    if (count.n > 0) {
      out.rates.push_back(static_cast<double>(count.hits) / static_cast<double>(count.n));
    }
  }
  return out;
}

// Counts by Fisher; where runs are many, errors that come in one run only are noise too (Welch).
Row error_row(const std::vector<Run>& base_runs, const std::vector<Run>& new_runs,
              const std::string& bucket, Method method) {
  const ErrorSide base = errors_of(base_runs, bucket), next = errors_of(new_runs, bucket);
  Row row;
  row.out.bucket = bucket;
  row.out.metric = "error_rate";
  row.out.role = Role::kPrimary;
  const statistics::ShareDifference difference =
      statistics::newcombe(base.all, next.all, 1 - 2 * kAlpha);
  row.out.base = statistics::mean(base.rates), row.out.next = statistics::mean(next.rates);
  row.out.change = difference.difference;
  row.out.low = difference.low, row.out.high = difference.high;
  row.out.is_judged = row.out.has_interval = base.all.n > 0 && next.all.n > 0;
  row.out.cliffs_delta = delta_of(base.rates, next.rates);
  row.out.p_slower = statistics::fisher_p_above(base.all, next.all);
  row.out.p_faster = statistics::fisher_p_above(next.all, base.all);
  if (method == Method::kDesigned && base.rates.size() >= 2 && next.rates.size() >= 2) {
    const MeanDifference runs = statistics::welch(base.rates, next.rates);
    row.out.p_slower = std::max(row.out.p_slower, runs.p_above(0));
    row.out.p_faster = std::max(row.out.p_faster, runs.p_below(0));
  }
  if (difference.difference < kErrorRise) row.out.p_slower = 1;
  if (difference.difference > -kErrorRise) row.out.p_faster = 1;
  row.equivalent = difference.low > -kErrorMargin && difference.high < kErrorMargin;
  return row;
}

bool is_primary(const Row& row) {
  return row.out.role == Role::kPrimary && row.out.is_judged;
}

// Holm over the primary rows, for each direction by itself.
void correct(std::vector<Row>& rows) {
  Values slower, faster;
  for (const Row& row : rows) {
    if (!is_primary(row)) continue;
    slower.push_back(row.out.p_slower), faster.push_back(row.out.p_faster);
  }
  const Values slower_corrected = statistics::holm(slower);
  const Values faster_corrected = statistics::holm(faster);
  size_t at = 0;
  for (Row& row : rows) {
    if (!is_primary(row)) continue;
    row.out.p_slower = slower_corrected[at], row.out.p_faster = faster_corrected[at];
    ++at;
  }
}

Verdict verdict_of(const Row& row) {
  const double permuted = row.out.permutation_p_slower.value_or(0);
  if (row.out.p_slower <= kAlpha && permuted <= kAlpha) return Verdict::kSlower;
  if (row.out.p_faster <= kAlpha && row.may_be_faster) return Verdict::kFaster;
  return row.equivalent ? Verdict::kEquivalent : Verdict::kInconclusive;
}

// With too few runs "slower" is a suspicion, and nothing else is claimed.
Verdict weakened(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSlower:
    case Verdict::kSuspected:
      return Verdict::kSuspected;
    case Verdict::kFaster:
    case Verdict::kEquivalent:
    case Verdict::kInconclusive:
      return Verdict::kInconclusive;
  }
  return Verdict::kInconclusive;
}

// Runs a side that would decide a row: enough to show the change that is seen, or, where it lies
// within the margin, enough to show that it does.
int needed(const Row& row, size_t have) {
  const double change = std::abs(row.change_log);
  const double power = kPower;
  int runs = change > row.margin
                 ? statistics::runs_needed(row.spread, change, row.margin, kAlpha, power)
                 : statistics::runs_needed(row.spread, row.margin, change, kAlpha, power);
  runs = std::max(runs, kDesignedRunsMin);
  return std::max(runs, std::min(static_cast<int>(have) + 1, statistics::kRunsMax));
}

void decide(std::vector<Row>& rows, Comparison& out) {
  correct(rows);
  const bool weak = out.method == Method::kSingle;
  const bool unconfirmed = out.method == Method::kArchive && out.new_runs < 2;
  for (Row& row : rows) {
    if (!row.out.is_judged) continue;
    Verdict verdict = verdict_of(row);
    const bool directed = verdict == Verdict::kSlower || verdict == Verdict::kFaster;
    if (unconfirmed && directed && row.out.role == Role::kPrimary) out.needs_confirmation = true;
    if (weak || (unconfirmed && directed)) verdict = weakened(verdict);
    row.out.verdict = verdict;
    if (verdict == Verdict::kInconclusive && row.margin > 0) {
      row.out.runs_needed = needed(row, std::min(out.base_runs, out.new_runs));
    }
  }
}

Verdict of_family(const std::vector<Row>& rows) {
  std::set<Verdict> seen;
  for (const Row& row : rows) {
    if (is_primary(row)) seen.insert(row.out.verdict);
  }
  if (seen.contains(Verdict::kSlower)) return Verdict::kSlower;
  if (seen.contains(Verdict::kSuspected)) return Verdict::kSuspected;
  if (seen.contains(Verdict::kFaster)) return Verdict::kFaster;
  return seen == std::set{Verdict::kEquivalent} ? Verdict::kEquivalent : Verdict::kInconclusive;
}

// The spread that method C uses: of the base where it has three runs or more.
void find_spread(const std::vector<Run>& base, Comparison& out) {
  out.spread = std::log1p(kAssumedSpread);
  out.spread_is_assumed = true;
  if (base.size() < 3) return;
  const Side side = side_of(base, std::string(runs::kAllBucket), judged().front());
  const double seen = statistics::standard_deviation(side.logs);
  if (!side.complete || seen <= 0) return;
  out.spread = seen;
  out.spread_is_assumed = false;
}

bool any_client_limited(const std::vector<Run>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Run& run) {
    return run.manifest && run.manifest->has_mark("client_limited");
  });
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "FASTER";
    case Verdict::kSlower:
      return "SLOWER";
    case Verdict::kEquivalent:
      return "EQUIVALENT";
    case Verdict::kInconclusive:
      return "INCONCLUSIVE";
    case Verdict::kSuspected:
      return "SUSPECTED";
  }
  return "INCONCLUSIVE";
}

std::string_view method_name(Method method) {
  switch (method) {
    case Method::kDesigned:
      return "A";
    case Method::kArchive:
      return "B";
    case Method::kSingle:
      return "C";
  }
  return "C";
}

Comparison compare(const std::vector<Run>& base, const std::vector<Run>& next) {
  HW_ASSERT(!base.empty() && !next.empty());
  Comparison out;
  out.base_runs = base.size(), out.new_runs = next.size();
  out.method = method_of(base.size(), next.size());
  out.client_limited = any_client_limited(base) || any_client_limited(next);
  find_spread(base, out);
  std::vector<Row> rows;
  for (const std::string& bucket : buckets_of(base, next)) {
    for (const Judged& one : judged()) {
      if (auto row = quantile_row(base, next, bucket, one, out)) rows.push_back(*std::move(row));
    }
    rows.push_back(error_row(base, next, bucket, out.method));
  }
  decide(rows, out);
  out.verdict = out.client_limited ? Verdict::kInconclusive : of_family(rows);
  for (Row& row : rows) {
    if (is_primary(row) && row.out.runs_needed) {
      out.runs_needed = std::max(out.runs_needed.value_or(0), *row.out.runs_needed);
    }
    out.rows.push_back(std::move(row.out));
  }
  return out;
}

}  // namespace hw::comparison
