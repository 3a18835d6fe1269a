#include "comparison/signatures.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "statistics/quantile.h"

namespace hw::comparison {
namespace {

using Values = std::vector<double>;

std::optional<double> median(Values values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return statistics::quantile(values, 0.5);
}

// What one side shows; absent where its records do not tell.
struct Features {
  std::optional<double> ttft_ms, gap_ms;     // medians
  std::optional<double> gaps_near_40_share;  // delayed acknowledgements wait 40 ms on Linux
  std::optional<double> ttft_humps_share;    // requests 200 ms and more above the median
  std::optional<double> coalesced_share, dialled_share, cached_share;
  std::optional<double> first_ms, later_ms;  // TTFT of the first tenth of a run, and of the rest
  std::optional<double> round_trip_ms, offered_rate;
  std::optional<double> alpha_ms, beta_ms;  // TTFT = alpha + beta * uncached input tokens
};

Values ttfts_of(const std::vector<Run>& runs) {
  Values out;
  for (const Run& run : runs) {
    for (const RequestFacts& request : run.requests) {
      if (request.ttft_ms) out.push_back(*request.ttft_ms);
    }
  }
  return out;
}

template <class Holds>
std::optional<double> share(const Values& values, const Holds& holds) {
  if (values.empty()) return std::nullopt;
  const auto count = std::count_if(values.begin(), values.end(), holds);
  return static_cast<double>(count) / static_cast<double>(values.size());
}

void read_shape(const std::vector<Run>& runs, Features& out) {
  Values gaps, nears, coalesced, dialled, first, later, round_trips, rates;
  for (const Run& run : runs) {
    const runs::BucketSummary& all = run.summary.buckets.front();
    if (const auto& p50 = all.of(runs::Metric::kTbt).p50) gaps.push_back(p50->value);
    nears.push_back(run.gaps_near_40_share);
    coalesced.push_back(run.coalesced_share);
    if (run.dialled_share) dialled.push_back(*run.dialled_share);
    if (const auto trip = median(run.round_trips_ms)) round_trips.push_back(*trip);
    if (run.manifest && run.manifest->offered_rate) rates.push_back(*run.manifest->offered_rate);
    const size_t tenth = run.requests.size() / 10;
    for (size_t i = 0; i < run.requests.size(); ++i) {
      const auto& ttft = run.requests[i].ttft_ms;
      if (ttft) (i < tenth ? first : later).push_back(*ttft);
    }
  }
  out.gap_ms = median(gaps), out.gaps_near_40_share = median(nears);
  out.coalesced_share = median(coalesced), out.dialled_share = median(dialled);
  out.first_ms = median(first), out.later_ms = median(later);
  out.round_trip_ms = median(round_trips), out.offered_rate = median(rates);
}

void read_cache(const std::vector<Run>& runs, Features& out) {
  double cached = 0, input = 0;
  for (const Run& run : runs) {
    for (const RequestFacts& request : run.requests) {
      if (!request.cached_tokens || !request.n_in) continue;
      cached += static_cast<double>(*request.cached_tokens);
      input += static_cast<double>(*request.n_in);
    }
  }
  if (input > 0) out.cached_share = cached / input;
}

// Least squares through all requests. Input lengths must spread, or the slope means nothing.
void read_line(const std::vector<Run>& runs, Features& out) {
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Run& run : runs) {
    for (const RequestFacts& request : run.requests) {
      if (!request.ttft_ms || !request.n_in) continue;
      const auto x = static_cast<double>(
          std::max<int64_t>(0, *request.n_in - request.cached_tokens.value_or(0)));
      n += 1, sum_x += x, sum_y += *request.ttft_ms;
      sum_xx += x * x, sum_xy += x * *request.ttft_ms;
    }
  }
  constexpr double kRequestsMin = 20, kSpreadMin = 0.3;  // of lengths, relative to their mean
  if (n < kRequestsMin) return;
  const double variance = sum_xx / n - sum_x / n * (sum_x / n);
  if (variance <= std::pow(kSpreadMin * sum_x / n, 2)) return;
  out.beta_ms = (sum_xy / n - sum_x / n * (sum_y / n)) / variance;
  out.alpha_ms = sum_y / n - *out.beta_ms * sum_x / n;
}

Features features_of(const std::vector<Run>& runs) {
  Features out;
  const Values ttfts = ttfts_of(runs);
  out.ttft_ms = median(ttfts);
  if (out.ttft_ms) {
    constexpr double kRetransmissionMs = 200;  // the least time-out of Linux
    out.ttft_humps_share =
        share(ttfts, [&](double value) { return value > *out.ttft_ms + kRetransmissionMs; });
  }
  read_shape(runs, out);
  read_cache(runs, out);
  read_line(runs, out);
  return out;
}

// Rules: each looks at both sides and says whether its trace is there.
class Rules {
 public:
  Rules(const Features& base, const Features& next) : base_(base), next_(next) {}

  std::vector<Evidence> all() {
    buffering();
    rise(Signature::kDelayedAck, base_.gaps_near_40_share, next_.gaps_near_40_share, 0.1);
    retransmission();
    rise(Signature::kReconnecting, base_.dialled_share, next_.dialled_share, 0.2);
    cold_start();
    rise(Signature::kCacheLost, next_.cached_share, base_.cached_share, 0.1, Order::kSwapped);
    growth(Signature::kRoundTrip, base_.round_trip_ms, next_.round_trip_ms, 1.5, 1.0);
    load();
    line();
    return std::move(out_);
  }

 private:
  enum class Order : unsigned char { kAsGiven, kSwapped };
  using Maybe = std::optional<double>;

  void add(Signature signature, double base, double next) {
    out_.push_back({signature, base, next});
  }
  // A share that rose by `least`.
  void rise(Signature signature, Maybe from, Maybe to, double least,
            Order order = Order::kAsGiven) {
    if (!from || !to || *to - *from < least) return;
    if (order == Order::kAsGiven) {
      add(signature, *from, *to);
    } else {
      add(signature, *to, *from);
    }
  }
  // A duration that grew by `factor` and by `least_ms`.
  void growth(Signature signature, Maybe from, Maybe to, double factor, double least_ms) {
    if (from && to && *to > *from * factor && *to - *from > least_ms) add(signature, *from, *to);
  }

  void buffering() {
    constexpr double kShareMin = 0.2;
    if (!base_.ttft_ms || !next_.ttft_ms || !base_.gap_ms || !next_.gap_ms) return;
    if (*next_.ttft_ms <= *base_.ttft_ms || *next_.gap_ms >= *base_.gap_ms) return;
    rise(Signature::kBuffering, base_.coalesced_share, next_.coalesced_share, kShareMin);
  }
  void retransmission() {
    // A hump, not a shift: a few requests in a hundred, while the median stays.
    constexpr double kRiseMin = 0.005, kMedianFactorMax = 1.2;
    if (!base_.ttft_ms || !next_.ttft_ms || *next_.ttft_ms > *base_.ttft_ms * kMedianFactorMax) {
      return;
    }
    rise(Signature::kRetransmission, base_.ttft_humps_share, next_.ttft_humps_share, kRiseMin);
  }
  void cold_start() {
    constexpr double kFactorMin = 1.5, kCalmFactorMax = 1.2;
    if (!base_.first_ms || !next_.first_ms || !base_.later_ms || !next_.later_ms) return;
    if (*next_.later_ms > *base_.later_ms * kCalmFactorMax) return;
    growth(Signature::kColdStart, base_.first_ms, next_.first_ms, kFactorMin, 1.0);
  }
  void load() {
    constexpr double kTolerance = 0.02;
    if (!base_.offered_rate || !next_.offered_rate || *base_.offered_rate <= 0) return;
    if (std::abs(*next_.offered_rate / *base_.offered_rate - 1) > kTolerance) {
      add(Signature::kLoadChanged, *base_.offered_rate, *next_.offered_rate);
    }
  }
  void line() {
    if (!base_.ttft_ms || !base_.alpha_ms || !next_.alpha_ms) return;
    // Beyond a tenth of the median TTFT, and 2 ms.
    const double least = std::max(2.0, *base_.ttft_ms / 10);
    if (*next_.alpha_ms - *base_.alpha_ms > least) {
      add(Signature::kLongerWait, *base_.alpha_ms, *next_.alpha_ms);
    }
    constexpr double kSlopeFactorMin = 1.1;
    if (*base_.beta_ms > 0 && *next_.beta_ms > *base_.beta_ms * kSlopeFactorMin) {
      add(Signature::kSlowerPrefill, *base_.beta_ms, *next_.beta_ms);
    }
  }

  const Features& base_;
  const Features& next_;
  std::vector<Evidence> out_;
};

}  // namespace

std::string_view signature_name(Signature signature) {
  switch (signature) {
    case Signature::kBuffering:
      return "buffering";
    case Signature::kDelayedAck:
      return "delayed_ack";
    case Signature::kRetransmission:
      return "retransmission";
    case Signature::kReconnecting:
      return "reconnecting";
    case Signature::kColdStart:
      return "cold_start";
    case Signature::kCacheLost:
      return "cache_lost";
    case Signature::kRoundTrip:
      return "round_trip";
    case Signature::kLoadChanged:
      return "load_changed";
    case Signature::kLongerWait:
      return "longer_wait";
    case Signature::kSlowerPrefill:
      return "slower_prefill";
  }
  return "round_trip";
}

std::vector<Evidence> find_signatures(const std::vector<Run>& base, const std::vector<Run>& next) {
  const Features before = features_of(base), after = features_of(next);
  return Rules(before, after).all();
}

}  // namespace hw::comparison
