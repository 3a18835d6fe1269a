#include "watchdog/watchdog.h"

#include <doctest/doctest.h>

#include <random>

namespace hw::watchdog {
namespace {

constexpr Nanos kLook = 500 * kMillisecond;  // between two looks
constexpr Nanos kPredicted = 20 * kMillisecond;

// An engine that works: one sequence runs, each look sees new steps.
class Healthy {
 public:
  Healthy() {
    snapshot.running = 1;
    snapshot.blocks = 100;
    snapshot.blocks_allocated = snapshot.blocks_live = 4;
    snapshot.server_requests = 1;
    snapshot.predicted_step_ns = kPredicted;
    snapshot.rss_bytes = int64_t{1} << 30;
  }
  // Time passes until the next look; the alarms of that.
  std::vector<Alarm> look() {
    snapshot.now += kLook;
    if (steps_go_on) snapshot.steps += kLook / kPredicted;
    snapshot.generated_tokens += tokens_per_look;
    snapshot.sequences = sequences;
    return dog.look(snapshot);
  }
  // Until the first alarm, `bound` of time at most; the time that it took.
  std::optional<Nanos> time_to(Signature signature, Nanos bound) {
    const Nanos began = snapshot.now;
    while (snapshot.now - began < bound) {
      if (change) change(snapshot);
      for (const Alarm& alarm : look()) {
        if (alarm.signature != signature) continue;
        last = alarm;
        return snapshot.now - began;
      }
    }
    return std::nullopt;
  }

  Watchdog dog;
  Snapshot snapshot;
  std::vector<SequenceView> sequences = {{7, 4, INT64_MAX}};
  bool steps_go_on = true;
  int64_t tokens_per_look = 100;
  void (*change)(Snapshot&) = nullptr;
  Alarm last;
};

TEST_CASE("leaked blocks are caught at the second look, counted, and may be reclaimed") {
  Healthy engine;
  CHECK(engine.look().empty());
  engine.snapshot.blocks_allocated += 3;
  CHECK(engine.time_to(Signature::kBlockDrift, kSecond) == 2 * kLook);
  CHECK(engine.last.measured == 3);
  CHECK(engine.last.heal == Heal::kReclaimBlocks);
  CHECK(describe(engine.last) == "block_drift: 3 blocks, allowed 0");
}

TEST_CASE("a double free is an alarm that nobody tries to heal") {
  Healthy engine;
  engine.snapshot.blocks_allocated -= 1;
  REQUIRE(engine.time_to(Signature::kBlockDrift, kSecond));
  CHECK(engine.last.heal == Heal::kNone);
}

TEST_CASE("an abort that was lost shows within six seconds; news under way does not") {
  Healthy engine;
  for (int i = 0; i < 100; ++i) {  // one look sees it, the next does not
    engine.snapshot.server_requests = 1 + i % 2;
    CHECK(engine.look().empty());
  }
  engine.snapshot.server_requests = 0;
  const auto took = engine.time_to(Signature::kRequestDrift, 10 * kSecond);
  REQUIRE(took);
  CHECK(*took <= 6 * kSecond);
  CHECK(engine.last.measured == -1);
}

TEST_CASE("a stuck sequence is named one second after its deadline, and evicted") {
  Healthy engine;
  engine.sequences[0].deadline = 3 * kSecond;
  const auto took = engine.time_to(Signature::kOverdue, 10 * kSecond);
  REQUIRE(took);
  CHECK(*took <= 3 * kSecond + Bounds().overdue_grace_ns + kLook);
  CHECK(engine.last.culprits == std::vector<uint64_t>{7});
  CHECK(engine.last.heal == Heal::kEvictSequences);
}

TEST_CASE("a queue that nothing holds is caught within two seconds") {
  Healthy engine;
  engine.snapshot.running = 0;
  engine.snapshot.waiting = 5;
  engine.snapshot.head_blocks = 96;
  const auto took = engine.time_to(Signature::kBlockedQueue, 10 * kSecond);
  REQUIRE(took);
  CHECK(*took <= 2 * kSecond);
}

TEST_CASE("a queue whose head does not fit, or that waits for company, is not blocked") {
  Healthy engine;
  engine.snapshot.running = 0;
  engine.snapshot.waiting = 5;
  engine.snapshot.head_blocks = 97;
  CHECK_FALSE(engine.time_to(Signature::kBlockedQueue, 10 * kSecond));
  engine.snapshot.head_blocks = 1;
  engine.snapshot.holds_until = engine.snapshot.now + (60 * kSecond);
  CHECK_FALSE(engine.time_to(Signature::kBlockedQueue, 10 * kSecond));
}

TEST_CASE("steps four times as long as predicted are caught after at most half a window") {
  Healthy engine;
  for (int i = 0; i < 16; ++i) engine.dog.step_ended(kPredicted, kPredicted);
  CHECK(engine.look().empty());
  for (int i = 0; i < 9; ++i) engine.dog.step_ended(4 * kPredicted, kPredicted);
  REQUIRE(engine.time_to(Signature::kSlowSteps, kSecond));
  CHECK(engine.last.measured == 4000);
}

TEST_CASE("a few slow steps among many are no alarm") {
  Healthy engine;
  for (int i = 0; i < 1000; ++i) {
    engine.dog.step_ended(i % 4 == 0 ? 50 * kPredicted : kPredicted, kPredicted);
    CHECK(engine.look().empty());
  }
}

TEST_CASE("a hung step makes the engine not live, until the next one ends") {
  Healthy engine;
  CHECK(engine.look().empty());
  engine.steps_go_on = false;
  const auto took = engine.time_to(Signature::kNoStep, 10 * kSecond);
  REQUIRE(took);
  CHECK(*took <= Bounds().no_step_floor_ns + 2 * kLook);
  CHECK(engine.last.culprits == std::vector<uint64_t>{7});
  CHECK_FALSE(engine.dog.live());
  CHECK(engine.look().empty());  // told once
  engine.steps_go_on = true;
  engine.look();
  CHECK(engine.dog.live());
  CHECK(engine.dog.alarms(Signature::kNoStep) == 1);
}

TEST_CASE("an idle engine is live") {
  Healthy engine;
  engine.sequences.clear();
  engine.snapshot.running = engine.snapshot.server_requests = 0;
  engine.snapshot.blocks_allocated = engine.snapshot.blocks_live = 0;
  engine.steps_go_on = false;
  for (int i = 0; i < 1000; ++i) CHECK(engine.look().empty());
}

TEST_CASE("preemptions that eat the work are caught within two windows") {
  Healthy engine;
  engine.change = [](Snapshot& s) { s.completions += 2; };
  CHECK_FALSE(engine.time_to(Signature::kThrash, (60 * kSecond)));
  engine.change = [](Snapshot& s) { s.preemptions += 5; };
  engine.tokens_per_look = 20;
  const auto took = engine.time_to(Signature::kThrash, (60 * kSecond));
  REQUIRE(took);
  CHECK(*took <= 2 * Bounds().thrash_window_ns + kLook);
}

TEST_CASE("preemptions under which the tokens go on are no thrash") {
  Healthy engine;
  engine.change = [](Snapshot& s) { s.preemptions += 5; };
  CHECK_FALSE(engine.time_to(Signature::kThrash, 10 * (60 * kSecond)));
}

TEST_CASE("a process that grows is caught within eight minutes; one that breathes is not") {
  Healthy engine;
  std::mt19937_64 random(1);
  for (int i = 0; i < 7200; ++i) {  // an hour
    engine.snapshot.rss_bytes = (int64_t{1} << 30) + static_cast<int64_t>(random() % (1U << 29));
    REQUIRE(engine.look().empty());
  }
  engine.change = [](Snapshot& s) { s.rss_bytes += 1 << 20; };
  engine.snapshot.rss_bytes = int64_t{2} << 30;
  const auto took = engine.time_to(Signature::kMemoryGrowth, 20 * (60 * kSecond));
  REQUIRE(took);
  CHECK(*took <= 9 * (60 * kSecond));
}

}  // namespace
}  // namespace hw::watchdog
