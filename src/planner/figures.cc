#include "planner/figures.h"

#include <algorithm>
#include <cmath>

#include "statistics/quantile.h"

namespace hw::planner {
namespace {

template <class Value>
Spread spread_of(const std::vector<Seen>& seen, Value value) {
  std::vector<double> values;
  values.reserve(seen.size());
  double sum = 0;
  for (const Seen& one : seen) {
    const std::optional<double> ms = value(one);
    if (!ms.has_value()) continue;
    values.push_back(*ms);
    sum += *ms;
  }
  Spread out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  out.mean = sum / static_cast<double>(values.size());
  out.p50 = statistics::quantile(values, 0.5);
  out.p95 = statistics::quantile(values, 0.95);
  out.p99 = statistics::quantile(values, 0.99);
  return out;
}

std::optional<double> tpot_of(const Seen& seen) {
  if (seen.output_tokens < 2) return std::nullopt;
  return seen.tpot_ms();
}

bool is_good(const Seen& seen, const Goals& goals) {
  if (goals.ttft_ms && seen.ttft_ms() > *goals.ttft_ms) return false;
  if (goals.e2e_ms && seen.e2e_ms() > *goals.e2e_ms) return false;
  return !goals.tpot_ms || seen.output_tokens < 2 || seen.tpot_ms() <= *goals.tpot_ms;
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

double relative(double before, double after) {
  return before > 0 ? after / before - 1 : 0;
}

bool moved(double before, double after) {
  return std::abs(relative(before, after)) > kNoise;
}

void add_work(const Outcome& outcome, const scheduler::Options& options, int instances,
              Figures& out) {
  const auto steps = static_cast<double>(outcome.totals.steps);
  const double spans_ns = out.span_s * 1e9 * instances;
  out.steps = outcome.totals.steps;
  out.tokens_per_step = share(
      static_cast<double>(outcome.totals.prefill_tokens + outcome.totals.decode_tokens), steps);
  out.decodes_per_step = share(static_cast<double>(outcome.totals.decode_tokens), steps);
  out.mixed_share = share(static_cast<double>(outcome.work.mixed_steps), steps);
  out.longest_step_ms = static_cast<double>(outcome.work.longest_step) / 1e6;
  out.busy_share = share(static_cast<double>(outcome.work.busy), spans_ns);
  out.kv_most = share(static_cast<double>(outcome.work.blocks_most),
                      static_cast<double>(options.kv_blocks - 1));
  out.preemptions = outcome.totals.preemptions;
  out.cached_share = share(static_cast<double>(outcome.totals.cache_hit_tokens),
                           static_cast<double>(outcome.totals.cache_queried_tokens));
  const scheduler::Waits& held = outcome.totals.held;
  out.held_by = held.longest();
  out.held_share = share(static_cast<double>(held.ns[static_cast<size_t>(out.held_by)]), spans_ns);
}

Cause cause_of_ttft(const Figures& before, const Figures& after) {
  const double whole = after.ttft.mean - before.ttft.mean;
  if (!moved(before.ttft.p99, after.ttft.p99) && !moved(before.ttft.mean, after.ttft.mean)) {
    return Cause::kNothing;
  }
  const double queue = after.queue.mean - before.queue.mean;
  return std::abs(queue) >= std::abs(whole - queue) ? Cause::kQueue : Cause::kPrefill;
}

Cause cause_of_tbt(const Figures& before, const Figures& after) {
  if (!moved(before.tbt.p99, after.tbt.p99) && !moved(before.tpot.p50, after.tpot.p50)) {
    return Cause::kNothing;
  }
  const double rise = relative(before.tbt.p99, after.tbt.p99);
  const auto lost = static_cast<double>(after.preemptions - before.preemptions);
  const auto answered = static_cast<double>(std::max<int64_t>(1, after.requests));
  if (lost * rise > 0 && std::abs(lost) / answered > kNoise) return Cause::kPreemption;
  // What went the other way is no cause.
  const double way = rise < 0 ? -1 : 1;
  const double step = way * relative(before.longest_step_ms, after.longest_step_ms);
  const double batch = way * relative(before.decodes_per_step, after.decodes_per_step);
  const double mixing = way * relative(before.mixed_share, after.mixed_share);
  if (step >= std::max(batch, mixing)) return Cause::kStepLength;
  return batch >= mixing ? Cause::kBatch : Cause::kMixing;
}

}  // namespace

Figures figures_of(const Outcome& outcome, const scheduler::Options& options, int instances,
                   const Goals& goals) {
  Figures out;
  out.requests = static_cast<int64_t>(outcome.seen.size());
  out.refused = outcome.refused;
  if (outcome.seen.empty()) return out;
  Nanos first = outcome.seen.front().sent, last = 0;
  int64_t tokens = 0, good = 0;
  for (const Seen& one : outcome.seen) {
    first = std::min(first, one.sent);
    last = std::max(last, one.last_token);
    tokens += one.output_tokens;
    if (is_good(one, goals)) ++good;
  }
  out.span_s = static_cast<double>(last - first) / 1e9;
  out.requests_per_s = share(static_cast<double>(out.requests), out.span_s);
  out.output_tokens_per_s = share(static_cast<double>(tokens), out.span_s);
  out.good_share =
      share(static_cast<double>(good), static_cast<double>(out.requests + out.refused));
  out.ttft = spread_of(outcome.seen, [](const Seen& one) { return std::optional(one.ttft_ms()); });
  out.e2e = spread_of(outcome.seen, [](const Seen& one) { return std::optional(one.e2e_ms()); });
  out.queue =
      spread_of(outcome.seen, [](const Seen& one) { return std::optional(one.queue_ms()); });
  out.tpot = spread_of(outcome.seen, tpot_of);
  const GapHistogram& gaps = outcome.work.gaps;
  out.tbt = {gaps.mean_ms(), gaps.quantile_ms(0.5), gaps.quantile_ms(0.95), gaps.quantile_ms(0.99)};
  add_work(outcome, options, instances, out);
  return out;
}

Difference difference_of(const Figures& before, const Figures& after) {
  Difference out;
  out.ttft_p99 = relative(before.ttft.p99, after.ttft.p99);
  out.tbt_p99 = relative(before.tbt.p99, after.tbt.p99);
  out.tpot_p50 = relative(before.tpot.p50, after.tpot.p50);
  out.e2e_p95 = relative(before.e2e.p95, after.e2e.p95);
  out.throughput = relative(before.output_tokens_per_s, after.output_tokens_per_s);
  out.ttft_cause = cause_of_ttft(before, after);
  out.tbt_cause = cause_of_tbt(before, after);
  return out;
}

Advice advise(const Figures& now, const Figures& with_one_more, const Goals& goals) {
  constexpr double kGoodEnough = 0.99;
  if (goals.any() && now.good_share < kGoodEnough && with_one_more.good_share >= kGoodEnough) {
    return Advice::kHelps;
  }
  constexpr double kMuchMore = 1.2;
  if (with_one_more.ttft.p99 <= now.ttft.p99 / 2) return Advice::kHelps;
  if (with_one_more.output_tokens_per_s >= now.output_tokens_per_s * kMuchMore) {
    return Advice::kHelps;
  }
  const bool any =
      moved(now.ttft.p99, with_one_more.ttft.p99) || moved(now.tbt.p99, with_one_more.tbt.p99) ||
      moved(now.tpot.p50, with_one_more.tpot.p50) || moved(now.e2e.p95, with_one_more.e2e.p95);
  return any ? Advice::kLittle : Advice::kDoesNot;
}

}  // namespace hw::planner
