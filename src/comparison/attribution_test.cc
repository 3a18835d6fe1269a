#include "comparison/attribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "comparison/simulated_run.h"

namespace hw::comparison {
namespace {

Attribution staged(const std::function<void(Scene&)>& change, size_t runs = 5,
                   const Scene& base = {}) {
  Simulator simulator(21);
  Scene next = base;
  change(next);
  const auto before = simulator.runs(base, runs);
  return attribute(before, simulator.runs(next, runs));
}

bool shows(const Attribution& attribution, Signature signature) {
  return std::any_of(attribution.evidence.begin(), attribution.evidence.end(),
                     [&](const Evidence& one) { return one.signature == signature; });
}

TEST_CASE("each staged change is put down to its cause") {
  CHECK(staged([](Scene& s) { s.decode_ms_per_token *= 1.4; }).verdict == Cause::kDecode);
  CHECK(staged([](Scene& s) { s.prefill_ms_per_token *= 2; }).verdict == Cause::kPrefill);
  CHECK(staged([](Scene& s) { s.queue_ms += 60; }).verdict == Cause::kQueue);
  CHECK(staged([](Scene& s) { s.gateway_ms += 40; }).verdict == Cause::kGateway);
  CHECK(staged([](Scene& s) { s.round_trip_ms += 30; }).verdict == Cause::kLink);
  CHECK(staged([](Scene& s) { s.long_share = 0.8; }).verdict == Cause::kMix);
  CHECK_FALSE(staged([](Scene&) {}).verdict.has_value());
}

TEST_CASE("a cache that is lost, a cold start and a buffering proxy leave their traces") {
  Scene cached;
  cached.cached_share = 0.8;
  const Attribution lost = staged([](Scene& s) { s.cached_share = 0; }, 5, cached);
  CHECK(lost.verdict == Cause::kPrefill);
  CHECK(shows(lost, Signature::kCacheLost));
  CHECK(shows(staged([](Scene& s) { s.cold_ms = 500; }), Signature::kColdStart));
  const Attribution buffered = staged([](Scene& s) { s.buffered = true; });
  CHECK(shows(buffered, Signature::kBuffering));
  CHECK(buffered.verdict == Cause::kLink);
}

TEST_CASE("without stages the link is known by its round trips, and else nothing is claimed") {
  Scene untold;
  untold.is_told = false;
  const Attribution link = staged([](Scene& s) { s.round_trip_ms += 30; }, 5, untold);
  CHECK(link.gateway_missing);
  CHECK(link.verdict == Cause::kLink);
  const Attribution queue = staged([](Scene& s) { s.queue_ms += 60; }, 5, untold);
  CHECK(queue.is_changed);
  CHECK_FALSE(queue.verdict.has_value());
}

TEST_CASE("shares sum to the change and have intervals where runs are several") {
  const Attribution both = staged([](Scene& s) { s.queue_ms += 40, s.round_trip_ms += 30; });
  double sum = 0;
  for (const Share& share : both.shares) {
    sum += share.share;
    REQUIRE(share.low.has_value());
    CHECK(*share.low <= share.share + 0.02);
    CHECK(*share.high >= share.share - 0.02);
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-6));
  const Attribution single = staged([](Scene& s) { s.queue_ms += 40; }, 1);
  REQUIRE_FALSE(single.shares.empty());
  CHECK_FALSE(single.shares.front().low.has_value());
}

}  // namespace
}  // namespace hw::comparison
