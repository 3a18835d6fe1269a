#include "planner/figures.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "gpu_model/catalogue.h"

namespace hw::planner {
namespace {

scheduler::Options options_of(int budget = 8192) {
  scheduler::Options out;
  out.kv_blocks = 20'000;
  out.max_model_len = 32'768;
  out.max_num_batched_tokens = budget;
  out.token_events = false;
  return out;
}

gpu_model::StepCost cost_of(std::string_view gpu = "h100") {
  return {*gpu_model::find_model("llama-3.1-8b"), *gpu_model::find_gpu(gpu), {}, {}};
}

JobLengths lengths_of(int prompt, int output) {
  return {workload::Lengths(prompt), workload::Lengths(output)};
}

Outcome open_loop(double rate, const scheduler::Options& options, const RunOptions& run = {},
                  int prompt = 1024, int64_t jobs = 400) {
  gpu_model::StepCost cost = cost_of();
  OpenLoop load({workload::ArrivalKind::kPoisson, rate, 1, 5}, jobs, lengths_of(prompt, 100), 6);
  return simulate(options, cost, load, run);
}

Figures figures(double rate, const scheduler::Options& options, int instances = 1,
                int prompt = 1024) {
  return figures_of(open_loop(rate, options, {.instances = instances}, prompt), options, instances,
                    {});
}

// Short requests, ten a second, and two long prompts (diagnosis of long-prompt interference).
Figures with_long_prompts(const scheduler::Options& options) {
  std::vector<workload::TraceRow> rows;
  for (int i = 0; i < 300; ++i) rows.push_back({i * 100 * kMillisecond, 100, 60, {}});
  for (size_t i = 0; i < 300; i += 5) rows[i].input_tokens = 8000;
  gpu_model::StepCost cost = cost_of();
  TraceReplay load(rows, 1);
  return figures_of(simulate(options, cost, load), options, 1, {});
}

}  // namespace

TEST_CASE("gaps are counted to one percent, and quantiles are of ranks") {
  GapHistogram gaps;
  CHECK(gaps.quantile_ms(0.5) == 0);
  for (int i = 1; i <= 1000; ++i) gaps.add(i * kMillisecond);
  CHECK(gaps.quantile_ms(0.5) == doctest::Approx(500).epsilon(0.01));
  CHECK(gaps.quantile_ms(0.99) == doctest::Approx(990).epsilon(0.01));
  CHECK(gaps.quantile_ms(1) == doctest::Approx(1000).epsilon(0.01));
  CHECK(gaps.mean_ms() == doctest::Approx(500.5));
  GapHistogram more;
  more.add(5 * kSecond, 3000);
  more.add(gaps);
  CHECK(more.count() == 4000);
  CHECK(more.quantile_ms(0.9) == doctest::Approx(5000).epsilon(0.01));
  GapHistogram exact;
  for (int i = 0; i < 100; ++i) exact.add(i);
  CHECK(exact.quantile_ms(0.5) == doctest::Approx(49e-6));
}

TEST_CASE("an open loop comes out the same with stretches skipped, gaps included") {
  const scheduler::Options options = options_of();
  const Outcome skipped = open_loop(6, options);
  const Outcome plain = open_loop(6, options, {.stretches = Stretches::kStepByStep});
  REQUIRE(skipped.seen.size() == 400);
  REQUIRE(plain.seen.size() == 400);
  for (size_t i = 0; i < 400; ++i) {
    CHECK(skipped.seen[i].sent == plain.seen[i].sent);
    CHECK(skipped.seen[i].admitted == plain.seen[i].admitted);
    CHECK(skipped.seen[i].last_token == plain.seen[i].last_token);
  }
  CHECK(skipped.work.busy == plain.work.busy);
  CHECK(skipped.work.blocks_most == plain.work.blocks_most);
  CHECK(skipped.work.mixed_steps == plain.work.mixed_steps);
  CHECK(skipped.work.gaps.count() == plain.work.gaps.count());
  CHECK(skipped.work.gaps.count() == 400 * 99);  // each token behind the first
  for (const double p : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    CHECK(skipped.work.gaps.quantile_ms(p) == plain.work.gaps.quantile_ms(p));
  }
}

TEST_CASE("several instances come out the same with stretches skipped, in a closed loop too") {
  gpu_model::StepCost cost = cost_of();
  const scheduler::Options options = options_of();
  std::vector<Outcome> outcomes;
  for (const Stretches stretches : {Stretches::kSkipped, Stretches::kStepByStep}) {
    ClosedLoop load(
        9, 100, {workload::Lengths::between(100, 3000), workload::Lengths::between(10, 200)}, 3);
    outcomes.push_back(simulate(options, cost, load, {.instances = 3, .stretches = stretches}));
  }
  REQUIRE(outcomes[0].seen.size() == 100);
  REQUIRE(outcomes[1].seen.size() == 100);
  // Ends at the same moment may be told in another order.
  const auto by_end = [](const Seen& a, const Seen& b) {
    return std::pair(a.last_token, a.sent) < std::pair(b.last_token, b.sent);
  };
  for (Outcome& outcome : outcomes) std::sort(outcome.seen.begin(), outcome.seen.end(), by_end);
  for (size_t i = 0; i < 100; ++i) {
    CHECK(outcomes[0].seen[i].sent == outcomes[1].seen[i].sent);
    CHECK(outcomes[0].seen[i].last_token == outcomes[1].seen[i].last_token);
  }
}

TEST_CASE("work grows with the requests, not with their square") {
  const scheduler::Options options = options_of();
  const auto steps = [&](int64_t jobs) {
    return open_loop(4, options, {}, 1024, jobs).totals.steps;
  };
  const double ratio = static_cast<double>(steps(4000)) / static_cast<double>(steps(1000));
  CHECK(ratio == doctest::Approx(4).epsilon(0.1));
}

TEST_CASE("a queue is the cause where requests wait, and another instance helps") {
  const scheduler::Options options = options_of();
  scheduler::Options narrow = options;
  narrow.max_num_seqs = 4;
  const Figures before = figures(8, narrow);
  CHECK(before.held_by == scheduler::Hold::kMaxNumSeqs);
  CHECK(before.queue.mean > before.ttft.mean / 2);
  const Difference wider = difference_of(before, figures(8, options));
  CHECK(wider.ttft_p99 < -0.5);
  CHECK(wider.ttft_cause == Cause::kQueue);
  CHECK(advise(before, figures(8, narrow, 2), {}) == Advice::kHelps);
}

TEST_CASE("an idle instance is not helped by another one") {
  const scheduler::Options options = options_of();
  const Figures alone = figures(0.2, options);
  CHECK(alone.busy_share < 0.5);
  CHECK(advise(alone, figures(0.2, options, 2), {}) != Advice::kHelps);
}

TEST_CASE("what does not matter is told to be nothing") {
  scheduler::Options more = options_of();
  const Figures before = figures(1, more);
  more.kv_blocks *= 2;
  const Difference same = difference_of(before, figures(1, more));
  CHECK(same.ttft_cause == Cause::kNothing);
  CHECK(same.tbt_cause == Cause::kNothing);
}

TEST_CASE("long prompts hold everyone up, unless they come in pieces") {
  scheduler::Options whole = options_of(8192);
  whole.enable_chunked_prefill = false;
  const Figures held_up = with_long_prompts(whole);
  const Figures pieces = with_long_prompts(options_of(512));
  // One prompt of 8,000 tokens is a step of some 200 ms for all who decode beside it.
  CHECK(held_up.longest_step_ms > 100);
  CHECK(pieces.longest_step_ms < 40);
  CHECK(held_up.tbt.p99 > 3 * pieces.tbt.p99);
  const Difference d = difference_of(held_up, pieces);
  CHECK(d.tbt_p99 < -0.6);
  CHECK(d.tbt_cause == Cause::kStepLength);
  // The long prompts themselves take longer in pieces; the short ones behind them do not.
  CHECK(pieces.ttft.p50 <= held_up.ttft.p50);
}

TEST_CASE("goals are kept by those that keep them, and refused requests keep none") {
  const scheduler::Options options = options_of();
  const Outcome outcome = open_loop(2, options);
  Goals goals;
  goals.ttft_ms = 1e9;
  CHECK(figures_of(outcome, options, 1, goals).good_share == 1);
  goals.tpot_ms = 1e-6;
  CHECK(figures_of(outcome, options, 1, goals).good_share == 0);
  Outcome refused = outcome;
  refused.refused = 400;
  goals.tpot_ms.reset();
  CHECK(figures_of(refused, options, 1, goals).good_share == doctest::Approx(0.5));
}

TEST_CASE("a trace's blocks are found again in the prefix cache") {
  std::vector<workload::TraceRow> rows;
  for (int i = 0; i < 20; ++i) rows.push_back({i * kSecond, 2048, 20, {1, 2, 3, 4}});
  scheduler::Options options = options_of();
  options.enable_prefix_caching = true;
  gpu_model::StepCost cost = cost_of();
  TraceReplay load(rows, 2);
  const Outcome outcome = simulate(options, cost, load);
  const Figures f = figures_of(outcome, options, 1, {});
  CHECK(f.cached_share > 0.9);
  CHECK(f.span_s < 10.5);  // twice as fast
  CHECK(outcome.seen.back().cached_tokens > 2000);
}

}  // namespace hw::planner
