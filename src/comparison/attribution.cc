#include "comparison/attribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/assert.h"
#include "base/random.h"
#include "comparison/signatures.h"
#include "statistics/quantile.h"

namespace hw::comparison {
namespace {

using Parts = std::array<double, kPartCount>;
constexpr int kRounds = 200;       // of resampling runs: a 95 % interval to about a point
constexpr uint64_t kSeed = 0xa77;  // so that an answer can be had again

// A candidate for the headline.
struct Headline {
  std::string_view metric;
  double quantile;
  double margin, floor_ms;
};
constexpr Headline kHeadlines[] = {
    {"ttft", 0.50, 0.03, 1.0}, {"ttft", 0.95, 0.05, 1.0}, {"tpot", 0.50, 0.03, 0.2}};

// One request as it enters a split.
struct Item {
  double value = 0;
  Parts parts{};
  std::string cell;
  double weight = 1;
};
using Items = std::vector<Item>;

int magnitude(std::optional<int64_t> tokens) {
  return tokens ? static_cast<int>(std::floor(std::log2(static_cast<double>(*tokens) + 1))) : -1;
}

// Requests of one cell cost the same if nothing else changed. How much came from a cache is what
// the server made of it, not what the client asked, and stays out.
std::string cell_of(const RequestFacts& request) {
  return request.bucket + '/' + std::to_string(magnitude(request.n_in));
}

Items items_of(const std::vector<const Run*>& runs, const Headline& headline) {
  Items out;
  const bool is_ttft = headline.metric == "ttft";
  for (const Run* run : runs) {
    for (const RequestFacts& request : run->requests) {
      const auto value = is_ttft ? request.ttft_ms : request.tpot_ms;
      if (!value) continue;
      Item item;
      item.value = *value;
      if (is_ttft) item.parts = request.parts_ms;
      item.cell = cell_of(request);
      out.push_back(std::move(item));
    }
  }
  std::sort(out.begin(), out.end(), [](const Item& a, const Item& b) { return a.value < b.value; });
  return out;
}

// The smallest value that at least `p` of all weight does not exceed. Items are sorted.
double weighted_quantile(const Items& items, double p) {
  double all = 0, sum = 0;
  for (const Item& item : items) all += item.weight;
  for (const Item& item : items) {
    sum += item.weight;
    if (sum >= p * all * (1 - 1e-12)) return item.value;
  }
  return items.back().value;
}

// Gives each item of the base the weight that makes its cells as common as those of `next`. Returns
// the share of `next` that has no like in the base.
double reweight(Items& base, const Items& next) {
  std::map<std::string, double> before, after;
  for (const Item& item : base) before[item.cell] += 1.0 / static_cast<double>(base.size());
  for (const Item& item : next) after[item.cell] += 1.0 / static_cast<double>(next.size());
  double uncovered = 0;
  for (const auto& [cell, share] : after) uncovered += before.contains(cell) ? 0 : share;
  for (Item& item : base) {
    const auto found = after.find(item.cell);
    item.weight = found == after.end() ? 0 : found->second / before[item.cell];
  }
  return uncovered;
}

// Mean parts of the items whose rank is near the quantile, scaled to sum to it.
Parts allocate(const Items& items, double p) {
  double all = 0;
  for (const Item& item : items) all += item.weight;
  const auto n = static_cast<double>(items.size());
  const double half = std::max(0.005, 15 / n);
  Parts sum{};
  double sum_of_values = 0, at = 0;
  for (const Item& item : items) {
    const double share = (at + item.weight / 2) / all;
    at += item.weight;
    if (std::abs(share - p) > half) continue;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += item.weight * item.parts[i];
    sum_of_values += item.weight * item.value;
  }
  if (sum_of_values <= 0) return {};
  const double scale = weighted_quantile(items, p) / sum_of_values;
  for (double& part : sum) part *= scale;
  return sum;
}

constexpr std::array<Cause, kPartCount> kCauseOfPart = {
    Cause::kQueue, Cause::kPrefill, Cause::kGateway, Cause::kLink, Cause::kUpstream};
constexpr size_t kCauseCount = static_cast<size_t>(Cause::kUpstream) + 1;

// Milliseconds of the change by cause; they sum to next - base.
struct Split {
  double base = 0, next = 0, uncovered = 0;
  std::array<double, kCauseCount> ms{};
};

Split split(const std::vector<const Run*>& base_runs, const std::vector<const Run*>& new_runs,
            const Headline& headline) {
  Items base = items_of(base_runs, headline);
  const Items next = items_of(new_runs, headline);
  Split out;
  if (base.empty() || next.empty()) return out;
  out.base = weighted_quantile(base, headline.quantile);
  out.next = weighted_quantile(next, headline.quantile);
  out.uncovered = reweight(base, next);
  const bool comparable = out.uncovered < 1;
  const double as_mixed = comparable ? weighted_quantile(base, headline.quantile) : out.next;
  out.ms[static_cast<size_t>(Cause::kMix)] = as_mixed - out.base;
  if (!comparable) return out;
  const double behaviour = out.next - as_mixed;
  if (headline.metric == "tpot") {
    out.ms[static_cast<size_t>(Cause::kDecode)] = behaviour;
    return out;
  }
  const Parts before = allocate(base, headline.quantile), after = allocate(next, headline.quantile);
  for (size_t i = 0; i < before.size(); ++i) {
    out.ms[static_cast<size_t>(kCauseOfPart[i])] += after[i] - before[i];
  }
  return out;
}

std::vector<const Run*> pointers(const std::vector<Run>& runs) {
  std::vector<const Run*> out;
  for (const Run& run : runs) out.push_back(&run);
  return out;
}

std::vector<const Run*> resampled(const std::vector<const Run*>& runs, Random& random) {
  std::vector<const Run*> out;
  for (size_t i = 0; i < runs.size(); ++i) out.push_back(runs[random.below(runs.size())]);
  return out;
}

// 95 % intervals of the shares; shares are of the change that all runs show, so that a resample in
// which hardly anything changed does not divide by it.
void add_intervals(std::vector<Share>& shares, const std::vector<const Run*>& base,
                   const std::vector<const Run*>& next, const Headline& headline, double change) {
  if (base.size() < 2 || next.size() < 2) return;
  Random random(kSeed);
  std::array<std::vector<double>, kCauseCount> seen;
  for (int round = 0; round < kRounds; ++round) {
    const Split one = split(resampled(base, random), resampled(next, random), headline);
    for (size_t i = 0; i < kCauseCount; ++i) seen[i].push_back(one.ms[i] / change);
  }
  for (Share& share : shares) {
    std::vector<double>& values = seen[static_cast<size_t>(share.cause)];
    std::sort(values.begin(), values.end());
    share.low = statistics::quantile(values, 0.025);
    share.high = statistics::quantile(values, 0.975);
  }
}

bool is_beyond(const Split& split, const Headline& headline) {
  const double margin = std::max(headline.margin * split.base, headline.floor_ms);
  return std::abs(split.next - split.base) > margin;
}

// How far beyond its margin, so that headlines can be compared.
double severity(const Split& split, const Headline& headline) {
  if (split.base <= 0) return 0;
  const double margin = std::max(headline.margin * split.base, headline.floor_ms);
  return std::abs(split.next - split.base) / margin;
}

bool has(const std::vector<Evidence>& evidence, Signature signature) {
  return std::any_of(evidence.begin(), evidence.end(),
                     [&](const Evidence& one) { return one.signature == signature; });
}

// The largest share names the cause. Where that is "model or link", what the records give away
// may still tell which.
std::optional<Cause> main_cause(const Attribution& out) {
  if (!out.is_changed || out.shares.empty()) return std::nullopt;
  const Cause largest = out.shares.front().cause;
  if (largest != Cause::kUpstream) return largest;
  const bool waits = has(out.evidence, Signature::kLongerWait);
  const bool prefills = has(out.evidence, Signature::kSlowerPrefill);
  if (has(out.evidence, Signature::kBuffering)) return Cause::kLink;
  if (has(out.evidence, Signature::kCacheLost)) return Cause::kPrefill;
  if (has(out.evidence, Signature::kRoundTrip) && !prefills) return Cause::kLink;
  return prefills && !waits ? std::optional(Cause::kPrefill) : std::nullopt;
}

}  // namespace

std::string_view cause_name(Cause cause) {
  switch (cause) {
    case Cause::kMix:
      return "mix";
    case Cause::kQueue:
      return "queue";
    case Cause::kPrefill:
      return "prefill";
    case Cause::kDecode:
      return "decode";
    case Cause::kGateway:
      return "gateway";
    case Cause::kLink:
      return "link";
    case Cause::kUpstream:
      return "upstream";
  }
  return "upstream";
}

Attribution attribute(const std::vector<Run>& base_runs, const std::vector<Run>& new_runs) {
  HW_ASSERT(!base_runs.empty() && !new_runs.empty());
  const auto base = pointers(base_runs), next = pointers(new_runs);
  Headline headline = kHeadlines[0];
  Split best;
  for (const Headline& one : kHeadlines) {
    const Split candidate = split(base, next, one);
    if (severity(candidate, one) <= severity(best, headline)) continue;
    best = candidate, headline = one;
  }
  Attribution out;
  out.metric = headline.metric, out.quantile = headline.quantile;
  out.base_ms = best.base, out.next_ms = best.next;
  out.uncovered = best.uncovered;
  out.change = best.base > 0 ? best.next / best.base - 1 : 0;
  out.is_changed = best.base > 0 && is_beyond(best, headline);
  out.evidence = find_signatures(base_runs, new_runs);
  if (out.is_changed) {
    const double change = best.next - best.base;
    for (size_t i = 0; i < kCauseCount; ++i) {
      if (best.ms[i] != 0)
        out.shares.push_back({static_cast<Cause>(i), best.ms[i] / change, {}, {}});
    }
    std::sort(out.shares.begin(), out.shares.end(),
              [](const Share& a, const Share& b) { return a.share > b.share; });
    add_intervals(out.shares, base, next, headline, change);
  }
  const auto untold = [](const Run& run) { return !run.knows_gateway && !run.knows_engine; };
  out.gateway_missing = std::any_of(base_runs.begin(), base_runs.end(), untold) ||
                        std::any_of(new_runs.begin(), new_runs.end(), untold);
  out.verdict = main_cause(out);
  return out;
}

}  // namespace hw::comparison
