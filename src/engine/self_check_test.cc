#include "engine/self_check.h"

#include <doctest/doctest.h>

#include <random>

namespace hw::engine {
namespace {

using watchdog::Signature;

// A scheduler with requests, looked at twice a second.
class Bench {
 public:
  static scheduler::Options options() {
    scheduler::Options options;
    options.kv_blocks = 64;
    options.max_model_len = 512;
    return options;
  }
  void add(RequestNumber number, Nanos timeout) {
    scheduler::Request request;
    request.number = number;
    request.prompt_tokens = 40;
    request.output_tokens_max = 200;
    request.timeout_ns = timeout;
    request.arrived = now;
    REQUIRE(scheduler.add(std::move(request)).has_value());
  }
  void step() {
    now += kLookInterval;
    if (!scheduler.schedule(now).items.empty()) scheduler.apply_blank(now);
  }
  std::vector<RequestNumber> look(int listened) {
    return check.look(scheduler, listened, std::nullopt, now).evict;
  }
  int64_t told(Signature signature) const {
    return metrics.alarms[static_cast<size_t>(signature)].value();
  }

  Registry registry;
  EngineMetrics metrics{registry, "m"};
  scheduler::Scheduler scheduler{options()};
  SelfCheck check{metrics};
  Nanos now = kSecond;
};

TEST_CASE("an engine that works raises nothing, blocks and requests agree") {
  Bench bench;
  for (RequestNumber number = 1; number <= 200; ++number) {
    bench.add(number, 600 * kSecond);
    bench.step();
    CHECK(bench.look(bench.scheduler.live()).empty());
  }
  for (int i = 0; i < watchdog::kSignatureCount; ++i) CHECK(bench.metrics.alarms[i].value() == 0);
  CHECK(bench.metrics.block_drift.value() == 0);
}

// An hour of virtual time in steps of 200 ms. 16 sequences of 50 tokens run at once, so that 1.6
// requests a second are the most that can be served.
void run_hour(double share_of_knee) {
  scheduler::Options options = Bench::options();
  options.kv_blocks = 256;
  options.max_num_seqs = 16;
  scheduler::Scheduler scheduler(options);
  Registry registry;
  EngineMetrics metrics(registry, "m");
  SelfCheck check(metrics);
  std::mt19937_64 random(7);
  std::exponential_distribution<double> gap_s(1.6 * share_of_knee);
  double arrival_s = gap_s(random);
  RequestNumber number = 0;
  for (Nanos now = kSecond; now < 3600 * kSecond; now += kSecond / 5) {
    for (; arrival_s * 1e9 < static_cast<double>(now); arrival_s += gap_s(random)) {
      scheduler::Request request;
      request.number = ++number;
      request.prompt_tokens = 20 + static_cast<int>(random() % 200);
      request.output_tokens_max = 50;
      request.arrived = now;
      REQUIRE(scheduler.add(std::move(request)).has_value());
    }
    const bool empty = scheduler.schedule(now).items.empty();
    if (check.due(now)) check.look(scheduler, scheduler.live(), std::nullopt, now);
    if (!empty) scheduler.apply_blank(now);
  }
  CHECK(number > 3000 * share_of_knee);
  for (const Counter& counter : metrics.alarms) CHECK(counter.value() == 0);
}

TEST_CASE("an hour of healthy traffic raises nothing, far below the knee and close to it") {
  for (const double share : {0.3, 0.7, 0.95}) {
    CAPTURE(share);
    run_hour(share);
  }
}

TEST_CASE("a sequence that nobody waits for any more is an alarm within six seconds") {
  Bench bench;
  bench.add(1, 600 * kSecond);
  for (int i = 0; i < 12; ++i) {
    bench.step();
    bench.look(0);
  }
  CHECK(bench.told(Signature::kRequestDrift) == 1);
}

TEST_CASE("a sequence that outlives its deadline is named to be evicted") {
  Bench bench;
  bench.add(7, 2 * kSecond);
  bench.step();
  CHECK(bench.look(1).empty());
  bench.now += 4 * kSecond;  // nobody schedules, so nobody ends it
  CHECK(bench.look(1) == std::vector<RequestNumber>{7});
  CHECK(bench.told(Signature::kOverdue) == 1);
  CHECK(bench.metrics.evicted.value() == 1);
}

}  // namespace
}  // namespace hw::engine
