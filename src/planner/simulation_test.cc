#include "planner/simulation.h"

#include <doctest/doctest.h>

#include "gpu_model/catalogue.h"

namespace hw::planner {
namespace {

gpu_model::StepCost cost_of(std::string_view model, int tp) {
  gpu_model::CostOptions options;
  options.tensor_parallel = tp;
  return {*gpu_model::find_model(model), *gpu_model::find_gpu("h100"), options,
          gpu_model::Scalars()};
}

scheduler::Options options_of(int64_t blocks) {
  scheduler::Options options;
  options.kv_blocks = blocks;
  options.max_model_len = 4096;
  options.token_events = false;
  return options;
}

Outcome run(int64_t blocks, int clients, Stretches stretches, uint64_t seed = 1) {
  gpu_model::StepCost cost = cost_of("Llama-3.1-8B", 1);
  ClosedLoop load(clients, clients * 4,
                  {workload::Lengths::between(500, 1000), workload::Lengths::between(150, 300)},
                  seed);
  return simulate(options_of(blocks), cost, load, {.stretches = stretches});
}

void check_alike(const Outcome& a, const Outcome& b) {
  REQUIRE(a.seen.size() == b.seen.size());
  for (size_t i = 0; i < a.seen.size(); ++i) {
    CHECK(a.seen[i].sent == b.seen[i].sent);
    CHECK(a.seen[i].first_token == b.seen[i].first_token);
    CHECK(a.seen[i].last_token == b.seen[i].last_token);
    CHECK(a.seen[i].preemptions == b.seen[i].preemptions);
  }
  CHECK(a.totals.steps == b.totals.steps);
  CHECK(a.totals.preemptions == b.totals.preemptions);
}

TEST_CASE("skipping stretches changes nothing, with room and without") {
  for (const int64_t blocks : {20'000, 700}) {
    const Outcome skipped = run(blocks, 12, Stretches::kSkipped);
    check_alike(skipped, run(blocks, 12, Stretches::kStepByStep));
    CHECK((skipped.totals.preemptions > 0) == (blocks == 700));
  }
}

TEST_CASE("the same seed gives the same run, another seed another") {
  check_alike(run(20'000, 5, Stretches::kSkipped, 7), run(20'000, 5, Stretches::kSkipped, 7));
  CHECK(run(20'000, 5, Stretches::kSkipped, 7).mean_ttft_ms() !=
        run(20'000, 5, Stretches::kSkipped, 8).mean_ttft_ms());
}

TEST_CASE("every job is seen once, with its tokens, in order") {
  const Outcome outcome = run(20'000, 9, Stretches::kSkipped);
  CHECK(outcome.seen.size() == 36);
  CHECK(outcome.refused == 0);
  for (const Seen& one : outcome.seen) {
    CHECK(one.sent < one.first_token);
    CHECK(one.first_token < one.last_token);
    CHECK(one.output_tokens >= 150);
    CHECK(one.output_tokens <= 300);
  }
}

TEST_CASE("a client never has two requests at once") {
  const Outcome outcome = run(20'000, 1, Stretches::kSkipped);
  REQUIRE(outcome.seen.size() == 4);
  for (size_t i = 1; i < 4; ++i) CHECK(outcome.seen[i].sent == outcome.seen[i - 1].last_token);
}

TEST_CASE("a job that can never fit is refused, and the run goes on") {
  gpu_model::StepCost cost = cost_of("Llama-3.1-8B", 1);
  ClosedLoop load(2, 6, {workload::Lengths(5000), workload::Lengths(10)},
                  1);  // above max_model_len
  const Outcome outcome = simulate(options_of(1000), cost, load);
  CHECK(outcome.refused == 6);
  CHECK(outcome.seen.empty());
}

TEST_CASE("a lone request takes its prefill and its decode steps, as priced one by one") {
  gpu_model::StepCost cost = cost_of("Qwen3-32B", 2);
  ClosedLoop load(1, 1, {workload::Lengths(2000), workload::Lengths(3)}, 1);
  const Outcome outcome = simulate(options_of(1000), cost, load);
  REQUIRE(outcome.seen.size() == 1);
  gpu_model::StepLoad prefill;
  cost.add_prefill(prefill, 0, 2000, gpu_model::StepCost::Ends::kYes);
  CHECK(outcome.seen[0].first_token == cost.client_ns(2000) + cost.nanos(prefill));
  Nanos decodes = 0;
  for (const int context : {2000, 2001}) {
    gpu_model::StepLoad decode;
    gpu_model::StepCost::add_decode(decode, context);
    decodes += cost.nanos(decode);
  }
  CHECK(outcome.seen[0].last_token - outcome.seen[0].first_token == decodes);
}

}  // namespace
}  // namespace hw::planner
