#include "comparison/preconditions.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "statistics/dependence.h"
#include "statistics/quantile.h"

namespace hw::comparison {
namespace {

using State = Precondition::State;
constexpr double kRateTolerance = 0.02;     // of the offered rate
constexpr double kLengthTolerance = 0.10;   // of the median output length
constexpr double kCensoredShareMax = 0.05;  // above: a P95 is only a bound

using Runs = std::vector<const Run*>;

Runs both(const std::vector<Run>& base, const std::vector<Run>& next) {
  Runs out;
  for (const Run& run : base) out.push_back(&run);
  for (const Run& run : next) out.push_back(&run);
  return out;
}

void add_to(std::string& list, std::string_view item) {
  list += concat(list.empty() ? "" : ", ", item);
}

// Those of `runs` for which `is_wrong` holds, by path.
template <class Wrong>
std::string wrong_ones(const Runs& runs, const Wrong& is_wrong) {
  std::string out;
  for (const Run* run : runs) {
    if (is_wrong(*run)) add_to(out, run->path);
  }
  return out;
}

Precondition make(std::string name, config::Words title, std::string wrong, State otherwise) {
  const State state = wrong.empty() ? otherwise : State::kFails;
  return {std::move(name), title, state, std::move(wrong)};
}

bool all_have_manifests(const Runs& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const Run* run) { return run->manifest.has_value(); });
}

Precondition manifests(const Runs& runs) {
  const auto lacks = [](const Run& run) { return !run.manifest; };
  return make("manifest", {"every run says how it was made", "每次运行都记录了生成方式"},
              wrong_ones(runs, lacks), State::kHolds);
}

Precondition content(const Runs& runs) {
  const auto edited = [](const Run& run) { return run.folder.is_edited(); };
  return make("content", {"records are as they were written", "记录未被改动"},
              wrong_ones(runs, edited), all_have_manifests(runs) ? State::kHolds : State::kUnknown);
}

Precondition fingerprint(const Runs& runs) {
  std::set<std::string> differing;
  for (const Run* run : runs) {
    if (!run->manifest || !runs.front()->manifest) continue;
    const auto& first = runs.front()->manifest->fingerprint;
    const auto& other = run->manifest->fingerprint;
    for (const auto& [key, value] : first) {
      const auto found = other.find(key);
      if (found == other.end() || found->second != value) differing.insert(key);
    }
    for (const auto& [key, value] : other) {
      if (!first.contains(key)) differing.insert(key);
    }
  }
  std::string wrong;
  for (const std::string& key : differing) add_to(wrong, key);
  return make("fingerprint", {"runs were made in the same way", "运行方式相同"}, wrong,
              all_have_manifests(runs) ? State::kHolds : State::kUnknown);
}

std::string shown(double value) {
  // Two decimals are enough for rates and shares.
  const auto hundredths = static_cast<int64_t>(std::llround(value * 100));
  std::string out =
      concat(hundredths / 100, ".", hundredths % 100 < 10 ? "0" : "", hundredths % 100);
  return out;
}

Precondition offered_rate(const Runs& runs) {
  double low = INFINITY, high = 0;
  bool told = true;
  for (const Run* run : runs) {
    const auto rate = run->manifest ? run->manifest->offered_rate : std::nullopt;
    told = told && rate.has_value();
    low = std::min(low, rate.value_or(low)), high = std::max(high, rate.value_or(high));
  }
  const bool differs = told && high > low * (1 + kRateTolerance);
  return make("offered_rate", {"the same load was offered", "负载相同"},
              differs ? concat(shown(low), " - ", shown(high), "/s") : "",
              told ? State::kHolds : State::kUnknown);
}

Precondition client(const Runs& runs) {
  const auto limited = [](const Run& run) {
    return run.manifest && run.manifest->has_mark("client_limited");
  };
  return make("client", {"the sampler kept its schedule", "采样端按计划发出请求"},
              wrong_ones(runs, limited),
              all_have_manifests(runs) ? State::kHolds : State::kUnknown);
}

Precondition stationarity(const Runs& runs) {
  const auto drifts = [](const Run& run) {
    const auto& marks = run.summary.marks;
    return std::find(marks.begin(), marks.end(), "drifting") != marks.end();
  };
  return make("stationarity", {"no run drifts", "运行过程中没有漂移"}, wrong_ones(runs, drifts),
              State::kHolds);
}

Precondition censoring(const Runs& runs) {
  const auto bounded = [](const Run& run) {
    const runs::MetricSummary& e2e = run.summary.buckets.front().of(runs::Metric::kE2e);
    return static_cast<double>(e2e.n_censored) > kCensoredShareMax * static_cast<double>(e2e.n);
  };
  return make("censoring", {"time-outs stay above the quantiles", "超时未影响所比较的分位数"},
              wrong_ones(runs, bounded), State::kHolds);
}

Precondition samples(const Runs& runs) {
  const auto floor =
      static_cast<double>(statistics::minimum_samples(0.95, 0.95, statistics::Sides::kTwo));
  const auto few = [&](const Run& run) {
    return run.summary.buckets.front().of(runs::Metric::kE2e).n_effective < floor;
  };
  return make("samples", {"every run carries a P95", "样本数足以支撑 P95"}, wrong_ones(runs, few),
              State::kHolds);
}

// Median output length of a side's requests; 0 where it is not told.
double output_length(const std::vector<Run>& runs) {
  std::vector<double> lengths;
  for (const Run& run : runs) {
    for (const RequestFacts& request : run.requests) {
      if (request.n_out) lengths.push_back(static_cast<double>(*request.n_out));
    }
  }
  if (lengths.empty()) return 0;
  std::sort(lengths.begin(), lengths.end());
  return statistics::quantile(lengths, 0.5);
}

Precondition output_lengths(const std::vector<Run>& base, const std::vector<Run>& next) {
  const double before = output_length(base), after = output_length(next);
  const bool told = before > 0 && after > 0;
  const bool differs = told && std::abs(after / before - 1) > kLengthTolerance;
  return make("output_length", {"answers are as long", "回答长度相同"},
              differs ? concat(shown(before), " -> ", shown(after), " tokens") : "",
              told ? State::kHolds : State::kUnknown);
}

}  // namespace

std::string_view state_name(Precondition::State state) {
  switch (state) {
    case State::kHolds:
      return "holds";
    case State::kFails:
      return "fails";
    case State::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::vector<Precondition> check_preconditions(const std::vector<Run>& base,
                                              const std::vector<Run>& next) {
  const Runs all = both(base, next);
  return {manifests(all),    content(all), fingerprint(all),
          offered_rate(all), client(all),  stationarity(all),
          censoring(all),    samples(all), output_lengths(base, next)};
}

}  // namespace hw::comparison
