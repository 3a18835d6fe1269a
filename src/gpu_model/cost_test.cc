#include "gpu_model/cost.h"

#include <doctest/doctest.h>

#include "gpu_model/catalogue.h"

namespace hw::gpu_model {
namespace {

StepCost cost_of(std::string_view model, std::string_view gpu = "h100", int tp = 1,
                 KvPrecision kv = KvPrecision::kBf16) {
  CostOptions options;
  options.tensor_parallel = tp;
  options.kv_precision = kv;
  return {*find_model(model), *find_gpu(gpu), options, Scalars()};
}

double decode_s(StepCost cost, int sequences, int64_t context) {
  StepLoad load;
  for (int i = 0; i < sequences; ++i) StepCost::add_decode(load, context);
  return cost.seconds(load);
}

double prefill_s(StepCost cost, int64_t context, int count) {
  StepLoad load;
  cost.add_prefill(load, context, count, StepCost::Ends::kYes);
  return cost.seconds(load);
}

TEST_CASE("a step without tokens takes no time") {
  CHECK(cost_of("Llama-3.1-8B").seconds(StepLoad()) == 0);
}

TEST_CASE("no step is faster than the memory or the arithmetic allows") {
  const auto shape = find_model("Llama-3.1-8B");
  const double weights_s = (shape->weight_bytes() - 2.0 * shape->vocab * shape->hidden) / 3.35e12;
  CHECK(decode_s(cost_of("Llama-3.1-8B"), 1, 100) > weights_s);
  const double kv_s = 64.0 * 32'000 * 131'072 / 3.35e12;
  CHECK(decode_s(cost_of("Llama-3.1-8B"), 64, 32'000) > weights_s + kv_s);
  const double flops_s = 2 * 7.0e9 * 8192 / 989e12;
  CHECK(prefill_s(cost_of("Llama-3.1-8B"), 0, 8192) > flops_s);
}

TEST_CASE("a step grows with its tokens, its sequences and its context") {
  for (const std::string_view model :
       {"Llama-3.1-8B", "gemma-3-27b", "gpt-oss-120b", "DeepSeek-V3", "Mixtral-8x7B"}) {
    CAPTURE(model);
    double last = 0;
    for (const int sequences : {1, 8, 64, 256}) {
      const double now = decode_s(cost_of(model, "h200", 8), sequences, 4000);
      CHECK(now > last);
      CHECK(decode_s(cost_of(model, "h200", 8), sequences, 8000) > now);
      last = now;
    }
    last = 0;
    for (const int tokens : {1, 100, 127, 128, 129, 1000, 8192, 20'000}) {
      const double now = prefill_s(cost_of(model, "h200", 8), 1000, tokens);
      CHECK(now > last);
      last = now;
    }
  }
}

TEST_CASE("what ought to make a step faster does") {
  const double base = decode_s(cost_of("Llama-3.1-70B", "h100", 4), 64, 8000);
  CHECK(decode_s(cost_of("Llama-3.1-70B", "h100", 8), 64, 8000) < base);
  CHECK(decode_s(cost_of("Llama-3.1-70B", "h200", 4), 64, 8000) < base);
  CHECK(decode_s(cost_of("Llama-3.1-70B-FP8", "h100", 4), 64, 8000) < base);
  CHECK(decode_s(cost_of("Llama-3.1-70B", "h100", 4, KvPrecision::kFp8), 64, 8000) < base);
}

TEST_CASE("layers with a window stop growing where the window ends") {
  const double full = decode_s(cost_of("Mistral-7B-v0.3"), 64, 30'000);
  const double windowed = decode_s(cost_of("Mistral-7B-v0.1"), 64, 30'000);
  CHECK(windowed < full / 2);
  CHECK(windowed == doctest::Approx(decode_s(cost_of("Mistral-7B-v0.1"), 64, 20'000)));
}

TEST_CASE("few tokens read few experts") {
  const double one = decode_s(cost_of("Qwen3-235B-A22B", "h200", 4), 1, 100);
  const double many = decode_s(cost_of("Qwen3-235B-A22B", "h200", 4), 256, 100);
  CHECK(many > 3 * one);
}

TEST_CASE("a prompt in small chunks costs more than in one piece") {
  const double whole = prefill_s(cost_of("Llama-3.1-8B"), 0, 8192);
  double chunks = 0;
  for (int64_t at = 0; at < 8192; at += 256) {
    chunks += prefill_s(cost_of("Llama-3.1-8B"), at, 256);
  }
  CHECK(chunks > 1.2 * whole);
  CHECK(chunks < 4 * whole);
}

TEST_CASE("scalars move the cost the way their names say") {
  for (const ScalarBound& bound : kScalarBounds) {
    Scalars scalars;
    CHECK(scalars.*bound.member >= bound.least);
    CHECK(scalars.*bound.member <= bound.most);
  }
  Scalars slow;
  slow.step_us += 1000;
  StepCost usual = cost_of("Llama-3.1-8B");
  StepCost slower(*find_model("Llama-3.1-8B"), *find_gpu("h100"), CostOptions(), slow);
  StepLoad load;
  StepCost::add_decode(load, 100);
  CHECK(slower.seconds(load) - usual.seconds(load) == doctest::Approx(0.001));
}

}  // namespace
}  // namespace hw::gpu_model
