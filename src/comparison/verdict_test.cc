#include "comparison/verdict.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "comparison/preconditions.h"
#include "comparison/simulated_run.h"

namespace hw::comparison {
namespace {

const MetricVerdict& row(const Comparison& comparison, std::string_view bucket,
                         std::string_view metric, std::string_view quantile) {
  for (const MetricVerdict& one : comparison.rows) {
    if (one.bucket == bucket && one.metric == metric && one.quantile == quantile) return one;
  }
  FAIL("no such row");
  return comparison.rows.front();
}

Comparison compare_scenes(const Scene& base, const Scene& next, size_t runs, uint64_t seed = 1) {
  Simulator simulator(seed);
  const auto before = simulator.runs(base, runs);
  return compare(before, simulator.runs(next, runs));
}

// Enough requests in each bucket for a P95.
Scene plenty() {
  Scene scene;
  scene.long_share = 0.5, scene.requests = 300;
  return scene;
}

TEST_CASE("five runs a side: a slower decode is SLOWER, a quicker one FASTER") {
  Scene slow = plenty();
  slow.decode_ms_per_token *= 1.25;
  const Comparison slower = compare_scenes(plenty(), slow, 5);
  CHECK(slower.method == Method::kDesigned);
  CHECK(slower.verdict == Verdict::kSlower);
  const MetricVerdict& tpot = row(slower, "short", "tpot", "p50");
  CHECK(tpot.verdict == Verdict::kSlower);
  CHECK(tpot.change == doctest::Approx(0.25).epsilon(0.2));
  CHECK(tpot.low < 0.25);
  CHECK(tpot.high > 0.20);
  CHECK(row(slower, "short", "ttft", "p50").verdict != Verdict::kSlower);
  CHECK(compare_scenes(slow, plenty(), 5).verdict == Verdict::kFaster);
}

TEST_CASE("nothing changed and runs are alike: EQUIVALENT") {
  Scene calm = plenty();
  calm.run_spread = 0.003;
  CHECK(compare_scenes(calm, calm, 6).verdict == Verdict::kEquivalent);
}

TEST_CASE("too noisy to tell: INCONCLUSIVE, with the number of runs that would decide") {
  Scene noisy = plenty();
  noisy.run_spread = 0.15;
  const Comparison comparison = compare_scenes(noisy, noisy, 5);
  CHECK(comparison.verdict == Verdict::kInconclusive);
  REQUIRE(comparison.runs_needed.has_value());
  CHECK(*comparison.runs_needed > 5);
}

TEST_CASE("one run against one is suspected at most, and assumes the spread between runs") {
  Scene slow = plenty();
  slow.decode_ms_per_token *= 1.5;
  const Comparison comparison = compare_scenes(plenty(), slow, 1);
  CHECK(comparison.method == Method::kSingle);
  CHECK(comparison.verdict == Verdict::kSuspected);
  CHECK(comparison.spread_is_assumed);
  CHECK(compare_scenes(plenty(), plenty(), 1).verdict == Verdict::kInconclusive);
  CHECK(compare_scenes(slow, plenty(), 1).verdict == Verdict::kInconclusive);
}

TEST_CASE("a new run against an archive is suspected until a second one confirms it") {
  Simulator simulator(3);
  const auto archive = simulator.runs(plenty(), 10);
  Scene slow = plenty();
  slow.decode_ms_per_token *= 1.4;
  const Comparison candidate = compare(archive, simulator.runs(slow, 1));
  CHECK(candidate.method == Method::kArchive);
  CHECK(candidate.verdict == Verdict::kSuspected);
  CHECK(candidate.needs_confirmation);
  const Comparison confirmed = compare(archive, simulator.runs(slow, 2));
  CHECK(confirmed.verdict == Verdict::kSlower);
  std::vector<Run> one_of_two = simulator.runs(slow, 1);
  one_of_two.push_back(simulator.run(plenty()));
  CHECK(compare(archive, one_of_two).verdict != Verdict::kSlower);
}

TEST_CASE("errors that became common are SLOWER, whatever the latencies") {
  Scene failing = plenty();
  failing.error_share = 0.06;
  const Comparison comparison = compare_scenes(plenty(), failing, 5);
  CHECK(comparison.verdict == Verdict::kSlower);
  CHECK(row(comparison, "short", "error_rate", "").verdict == Verdict::kSlower);
}

TEST_CASE("below its sample floor a quantile is shown with the reason and not judged") {
  Scene few = plenty();
  few.requests = 50;
  const Comparison comparison = compare_scenes(few, few, 5);
  const MetricVerdict& e2e = row(comparison, "long", "e2e", "p95");
  CHECK_FALSE(e2e.is_judged);
  CHECK(e2e.why_not.find("72") != std::string::npos);
  CHECK(row(comparison, "long", "ttft", "p50").is_judged);
}

TEST_CASE("from six runs on the permutation test must agree") {
  Scene slow = plenty();
  slow.decode_ms_per_token *= 1.25;
  const Comparison five = compare_scenes(plenty(), slow, 5);
  CHECK_FALSE(row(five, "short", "tpot", "p50").permutation_p_slower.has_value());
  const Comparison six = compare_scenes(plenty(), slow, 6);
  CHECK(row(six, "short", "tpot", "p50").permutation_p_slower.value() < 0.01);
  CHECK(six.verdict == Verdict::kSlower);
}

TEST_CASE("a run that measured its client concludes nothing") {
  Simulator simulator(5);
  Scene slow = plenty();
  slow.decode_ms_per_token *= 2;
  auto base = simulator.runs(plenty(), 5), next = simulator.runs(slow, 5);
  next[2].manifest = runs::Manifest();
  next[2].manifest->marks = {"client_limited"};
  CHECK(compare(base, next).verdict == Verdict::kInconclusive);
}

TEST_CASE("of 500 comparisons of nothing at most 2 % are called FASTER or SLOWER") {
  Simulator simulator(7);
  Scene scene;
  scene.requests = 60, scene.tokens = 3, scene.is_told = false, scene.run_spread = 0.03;
  int alarms = 0;
  for (int i = 0; i < 500; ++i) {
    const auto base = simulator.runs(scene, 5);
    const Verdict verdict = compare(base, simulator.runs(scene, 5)).verdict;
    alarms += verdict == Verdict::kSlower || verdict == Verdict::kFaster ? 1 : 0;
  }
  CHECK(alarms <= 10);
}

TEST_CASE("preconditions name what differs between the runs") {
  Simulator simulator(9);
  auto base = simulator.runs(plenty(), 2), next = simulator.runs(plenty(), 1);
  const auto state = [&](std::string_view name) {
    for (const Precondition& one : check_preconditions(base, next)) {
      if (one.name == name) return one;
    }
    return Precondition();
  };
  CHECK(state("manifest").state == Precondition::State::kFails);
  CHECK(state("fingerprint").state == Precondition::State::kUnknown);
  for (auto* runs : {&base, &next}) {
    for (Run& run : *runs) {
      run.manifest = runs::Manifest();
      run.manifest->fingerprint = {{"model", "m"}, {"mix", "a"}};
      run.manifest->offered_rate = 10;
    }
  }
  CHECK(state("manifest").state == Precondition::State::kHolds);
  CHECK(state("fingerprint").state == Precondition::State::kHolds);
  CHECK(state("offered_rate").state == Precondition::State::kHolds);
  next[0].manifest->fingerprint["mix"] = "b";
  next[0].manifest->offered_rate = 10.5;
  CHECK(state("fingerprint").detail == "mix");
  CHECK(state("offered_rate").detail == "10.00 - 10.50/s");
}

}  // namespace
}  // namespace hw::comparison
