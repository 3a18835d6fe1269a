#include "virtual_gpu/backend.h"

#include <doctest/doctest.h>

#include <thread>

#include "gpu_model/catalogue.h"
#include "virtual_gpu/answer.h"
#include "virtual_gpu/instance.h"
#include "virtual_gpu/text_tokens.h"

using namespace hw;
using namespace hw::virtual_gpu;

namespace {

gpu_model::StepCost cost_of(std::string_view shape, std::string_view gpu) {
  return {*gpu_model::find_model(shape), *gpu_model::find_gpu(gpu), {}, {}};
}

// A plan of prompts of so many tokens, and of sequences that decode behind so many positions.
struct PlanOf {
  PlanOf() = default;
  PlanOf(const PlanOf&) = delete;  // items point into it
  PlanOf& operator=(const PlanOf&) = delete;

  std::vector<engine::Token> tokens = std::vector<engine::Token>(8192, 1);
  std::vector<engine::Token> output = {1};
  engine::Sampling sampling;
  engine::StepPlan plan;

  PlanOf& prompt(int count) {
    add(0, count).sample = true;
    return *this;
  }
  PlanOf& decode(int context) {
    engine::StepItem& item = add(context, 1);
    item.sample = true;
    item.output = output;
    return *this;
  }

 private:
  engine::StepItem& add(int start, int count) {
    engine::StepItem& item = plan.items.emplace_back();
    item.sequence = plan.items.size();
    item.slot = static_cast<int>(plan.items.size()) - 1;
    item.start = start;
    item.tokens = std::span(tokens).first(static_cast<size_t>(count));
    item.sampling = &sampling;
    return item;
  }
};

engine::Options options_of(const std::string& shape, const std::string& gpu) {
  engine::Options out;
  out.model.backend = engine::BackendKind::kGpuModel;
  out.model.model_id = std::string("model");
  out.model.shape = shape;
  out.model.gpu = gpu;
  return out;
}

}  // namespace

TEST_CASE("a step costs what the model of the GPU says") {
  VirtualGpu gpu(cost_of("llama-3.1-8b", "h100"), {}, {});
  gpu_model::StepCost cost = cost_of("llama-3.1-8b", "h100");
  gpu_model::StepLoad load;
  cost.add_prefill(load, 0, 2048, gpu_model::StepCost::Ends::kYes);
  gpu_model::StepCost::add_decode(load, 1000);
  CHECK(gpu.price(PlanOf().prompt(2048).decode(1000).plan) == cost.nanos(load));
  CHECK(gpu.price({}) == 0);
  // Eight billion weights of two bytes at 3.35 TB/s: 4.8 ms at least.
  CHECK(gpu.price(PlanOf().decode(100).plan) > 4'800 * kMicrosecond);
  CHECK(gpu.price(PlanOf().decode(100).plan) < 10 * kMillisecond);
}

TEST_CASE("a step ends at its time, and steps behind each other do not drift") {
  VirtualGpu gpu(cost_of("llama-3.1-8b", "h100"), {.speed = 10}, {});
  PlanOf one;
  one.decode(100);
  const Nanos length = gpu.price(one.plan) / 10;
  const Nanos began = monotonic_ns();
  constexpr int kSteps = 20;
  for (int i = 0; i < kSteps; ++i) gpu.execute(one.plan);
  const Nanos took = monotonic_ns() - began;
  CHECK(took >= kSteps * (length - 1));
}

TEST_CASE("tokens are those of the seed, whatever else is in the step") {
  VirtualGpu gpu(cost_of("qwen2.5-0.5b", "h100"), {.speed = 1000, .answer_tokens = 0}, {});
  PlanOf several;
  several.sampling.seed = 9;
  several.prompt(10).decode(5);
  const engine::StepResult result = gpu.execute(several.plan);
  REQUIRE(result.sampled.size() == 2);
  CHECK(result.sampled[0].token == answer_token(9, 0, 0));
  CHECK(result.sampled[1].token == answer_token(9, 1, 0));
  CHECK(result.sampled[1].sequence == 2);
}

TEST_CASE("an interrupt ends a step that would take long, and every later one") {
  VirtualGpu gpu(cost_of("llama-3.1-8b", "h100"), {.speed = 0.01}, {});
  PlanOf one;
  one.prompt(8192);
  REQUIRE(gpu.price(one.plan) > 100 * kMillisecond);  // 10 s at this speed
  std::thread later([&gpu] { gpu.interrupt(); });
  const Nanos began = monotonic_ns();
  CHECK(gpu.execute(one.plan).outcome == engine::StepOutcome::kInterrupted);
  CHECK(gpu.execute(one.plan).outcome == engine::StepOutcome::kInterrupted);
  CHECK(monotonic_ns() - began < 5 * kSecond);
  later.join();
}

TEST_CASE("an instance has the blocks that the GPU's memory holds beside the weights") {
  Registry registry;
  const auto small = open_instance(options_of("llama-3.1-8b", "h100"), registry);
  REQUIRE(small.has_value());
  // 80 GB, 85 % of them, less 16 GB of weights: some 50 GB at 128 KiB a token.
  CHECK(small->limits.cells() > 350'000);
  CHECK(small->limits.cells() < 450'000);
  CHECK(small->limits.step_tokens_max() == 8192);
  CHECK(small->limits.sequences_max() == 32);

  engine::Options asked = options_of("llama-3.1-8b", "h100");
  asked.model.kv_blocks = 100;
  asked.model.max_batch_size = 512;
  asked.scheduler.max_num_batched_tokens = 2048;
  asked.model.max_model_len = 1000;
  asked.scheduler.enable_prefix_caching = true;
  const auto told = open_instance(asked, registry);
  REQUIRE(told.has_value());
  CHECK(told->limits.scheduling.kv_blocks == 100);
  CHECK(told->limits.sequences_max() == 512);
  CHECK(told->limits.step_tokens_max() == 2048);
  CHECK(told->limits.scheduling.enable_prefix_caching);
}

TEST_CASE("what does not exist or does not fit is told with what would") {
  Registry registry;
  const auto message = [&](const std::string& shape, const std::string& gpu) {
    const auto opened = open_instance(options_of(shape, gpu), registry);
    return opened.has_value() ? std::string() : opened.error().message;
  };
  CHECK(message("llama-70", "h100").find("Llama-3") != std::string::npos);
  CHECK(message("llama-3.1-8b", "h999").find("h100") != std::string::npos);
  CHECK(message("/nowhere/config.json", "h100").find("cannot be read") != std::string::npos);
  CHECK(message("llama-3.1-70b", "h100").find("tensor_parallel") != std::string::npos);
}
