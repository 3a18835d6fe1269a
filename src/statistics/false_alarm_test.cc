// Simulation: which rule may be trusted to call a run slower. Latencies are lognormal with sigma
// 0.6, neighbours depend on each other (AR(1), rho 0.7), and runs differ by 3 % among themselves,
// though nothing changed; or one side is slower by a known factor.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "statistics/distribution.h"
#include "statistics/mean_difference.h"
#include "statistics/quantile.h"
#include "statistics/rank_effect.h"

namespace hw::statistics {
namespace {

constexpr size_t kRequests = 1000;
constexpr int kReplicates = 300;
constexpr double kSigma = 0.6, kAlpha = 0.05;

// What the world is like.
struct World {
  double rho = 0, run_spread = 0, change = 0;  // the last two in logs
};

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : random_(seed) {}

  // Log latencies of one run, in no order that counts.
  std::vector<double> run(const World& world, double change) {
    const double effect = change + world.run_spread * gaussian();
    const double innovation = std::sqrt(1 - world.rho * world.rho);
    double state = gaussian();
    std::vector<double> logs(kRequests);
    for (double& log : logs) {
      state = world.rho * state + innovation * gaussian();
      log = effect + kSigma * state;
    }
    return logs;
  }

 private:
  // Box and Muller's.
  double gaussian() {
    constexpr double kTurn = 6.283185307179586;
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - random_.unit()));
    const double angle = kTurn * random_.unit();
    spare_ = radius * std::sin(angle), has_spare_ = true;
    return radius * std::cos(angle);
  }

  Random random_;
  double spare_ = 0;
  bool has_spare_ = false;
};

// Shares of replicates, in percent, in which each rule says "slower".
struct Alarms {
  double ratio = 0, pooled = 0, welch = 0, welch_margin = 0;
};

// Mann-Whitney's test by its normal approximation, as if requests were independent.
bool pooled_says_slower(std::vector<double>& base, std::vector<double>& next) {
  std::sort(base.begin(), base.end());
  std::sort(next.begin(), next.end());
  const auto n = static_cast<double>(base.size()), m = static_cast<double>(next.size());
  const double z = (mann_whitney_u(base, next) - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
  return z > normal_quantile(1 - kAlpha);
}

double quantile_of(std::vector<double>& logs, double p) {
  const auto place = logs.begin() + static_cast<std::ptrdiff_t>(nearest_rank(p, logs.size()) - 1);
  std::nth_element(logs.begin(), place, logs.end());
  return *place;
}

Alarms alarms_of(const World& world, double p, uint64_t seed) {
  Simulation simulation(seed);
  Alarms out;
  constexpr double kOne = 100.0 / kReplicates;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    std::vector<double> base, next;
    std::vector<double> first_base, first_next;
    for (int i = 0; i < 5; ++i) {
      std::vector<double> a = simulation.run(world, 0);
      std::vector<double> b = simulation.run(world, world.change);
      base.push_back(quantile_of(a, p)), next.push_back(quantile_of(b, p));
      if (i == 0) first_base = std::move(a), first_next = std::move(b);
    }
    const MeanDifference difference = welch(base, next);
    out.ratio += next[0] - base[0] > std::log(1.10) ? kOne : 0;
    out.pooled += pooled_says_slower(first_base, first_next) ? kOne : 0;
    out.welch += difference.lower(kAlpha) > 0 ? kOne : 0;
    out.welch_margin += difference.lower(kAlpha) > std::log(1.05) ? kOne : 0;
  }
  return out;
}

// Standard error, in percent, of the difference between this simulation's share and the table's,
// which has 500 replicates.
double error_of(double percent) {
  const double share = std::clamp(percent / 100, 0.01, 0.99);
  return 100 * std::sqrt(share * (1 - share) * (1.0 / kReplicates + 1.0 / 500));
}

void check_near(double ours, double table) {
  CAPTURE(ours);
  CAPTURE(table);
  CHECK(std::abs(ours - table) < 3.5 * error_of(table));  // sixteen cells are compared
}

const World kRealWorld = {0.7, 0.03, 0};

TEST_CASE("five runs against five with a margin raise at most 2 % false alarms") {
  uint64_t seed = 100;
  for (const double p : {0.5, 0.95, 0.99}) {
    CHECK(alarms_of(kRealWorld, p, seed++).welch_margin <= 2.0);
    CHECK(alarms_of({}, p, seed++).welch_margin <= 2.0);
  }
}

TEST_CASE("tests over pooled requests and fixed ratios raise many false alarms") {
  const Alarms median = alarms_of(kRealWorld, 0.50, 7);
  CHECK(median.pooled > 15);
  const Alarms tail = alarms_of(kRealWorld, 0.99, 8);
  CHECK(tail.pooled > 15);
  CHECK(tail.ratio > 15);
}

TEST_CASE("false alarms and power are those of the table, within the simulations' own errors") {
  const Alarms median = alarms_of(kRealWorld, 0.50, 17);
  check_near(median.pooled, 30.6);
  check_near(median.ratio, 12.4);
  check_near(median.welch, 4.0);
  const Alarms tail = alarms_of(kRealWorld, 0.99, 18);
  check_near(tail.ratio, 27.6);
  check_near(tail.welch, 4.8);
  World slower = kRealWorld;
  slower.change = std::log(1.10);
  const Alarms ten = alarms_of(slower, 0.50, 19);
  check_near(ten.pooled, 74.0);
  check_near(ten.ratio, 49.2);
  check_near(ten.welch, 76.4);
  check_near(ten.welch_margin, 30.8);
  slower.change = std::log(1.20);
  const Alarms p95 = alarms_of(slower, 0.95, 20);
  check_near(p95.welch, 98.0);
  check_near(p95.welch_margin, 83.6);
  const Alarms p99 = alarms_of(slower, 0.99, 21);
  check_near(p99.welch, 80.6);
  check_near(p99.welch_margin, 56.0);
  World independent;
  independent.change = std::log(1.20);
  check_near(alarms_of(independent, 0.99, 22).welch_margin, 88.0);
}

}  // namespace
}  // namespace hw::statistics
