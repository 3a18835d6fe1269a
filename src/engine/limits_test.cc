#include "engine/limits.h"

#include <doctest/doctest.h>

namespace hw::engine {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
const ModelFacts kSmall = {8192, 23'040, {}};
const HostFacts kHost = {2, 4 * kGiB};

Limits resolved(const Options& options) {
  auto result = resolve_limits(options, kSmall, kHost);
  REQUIRE(result.has_value());
  return result->limits;
}

std::string refusal(const Options& options, const HostFacts& host = kHost) {
  auto result = resolve_limits(options, kSmall, host);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::kConfig);
  return result.error().message;
}

TEST_CASE("the defaults give the CPU backend 8 sequences, steps of 64 and 8192 cells") {
  auto result = resolve_limits(Options(), kSmall, kHost);
  REQUIRE(result.has_value());
  CHECK(result->limits.sequences_max() == 8);
  CHECK(result->limits.step_tokens_max() == 64);
  CHECK(result->limits.cells() == 8192);
  CHECK(result->limits.scheduling.max_model_len == 8192);
  CHECK(result->limits.scheduling.input_len_max() == 8191);
  CHECK(result->limits.threads == 1);
  CHECK(result->limits.scheduling.request_timeout_ns == 120 * kSecond);
  REQUIRE(result->notes.size() == 1);
  CHECK(result->notes[0].find("max_batch_size 32") != std::string::npos);
}

TEST_CASE("little memory makes the KV cache and the longest sequence smaller") {
  auto result = resolve_limits(Options(), kSmall, {1, 64 << 20});
  REQUIRE(result.has_value());
  CHECK(result->limits.cells() == static_cast<int64_t>((64 << 20) * 0.85) / 23'040 / 16 * 16);
  CHECK(result->limits.scheduling.max_model_len == result->limits.cells());
}

TEST_CASE("explicit sizes are taken as they are") {
  Options options;
  options.model.kv_blocks = 100;
  options.model.max_model_len = 1000;
  options.model.max_input_len = 500;
  options.model.threads = 3;
  options.scheduler.max_num_batched_tokens = 256;
  options.scheduler.watermark = 0.25;
  const Limits limits = resolved(options);
  CHECK(limits.scheduling.kv_blocks == 100);
  CHECK(limits.cells() == 1584);  // one block is never used
  CHECK(limits.scheduling.max_model_len == 1000);
  CHECK(limits.scheduling.input_len_max() == 500);
  CHECK(limits.step_tokens_max() == 256);
  CHECK(limits.scheduling.watermark == 0.25);
  CHECK(limits.threads == 3);
}

TEST_CASE("settings that contradict each other are refused by name") {
  Options options;
  options.model.max_model_len = 9000;
  CHECK(refusal(options).find("max_model_len") != std::string::npos);
  options = {};
  options.model.kv_blocks = 10;
  options.model.max_model_len = 1000;
  CHECK(refusal(options).find("max_model_len") != std::string::npos);
  options = {};
  options.model.max_input_len = 8192;
  CHECK(refusal(options).find("max_input_len") != std::string::npos);
  for (const int tokens : {1, 63, 513, 8192}) {
    options = {};
    options.scheduler.max_num_batched_tokens = tokens;
    CHECK(refusal(options).find("max_num_batched_tokens") != std::string::npos);
  }
  options = {};
  options.model.kv_blocks = 1;
  CHECK(refusal(options).find("kv_blocks") != std::string::npos);
  options = {};
  options.scheduler.enable_chunked_prefill = false;
  options.scheduler.long_prefill_token_threshold = 32;
  CHECK(refusal(options).find("long_prefill_token_threshold") != std::string::npos);
  CHECK(refusal({}, {2, 0}).find("kv_cache_ratio") != std::string::npos);
}

TEST_CASE("the model of a GPU takes what its memory holds, and vLLM's steps") {
  ModelFacts facts;
  facts.context_len = 131'072;
  facts.kv_blocks = 20'000;
  facts.bounds = kGpuBounds;
  Options options;
  options.model.max_batch_size = 512;
  auto result = resolve_limits(options, facts, {});
  REQUIRE(result.has_value());
  CHECK(result->limits.scheduling.kv_blocks == 20'000);
  CHECK(result->limits.scheduling.max_model_len == 131'072);
  CHECK(result->limits.step_tokens_max() == 8192);
  CHECK(result->limits.sequences_max() == 512);
  CHECK(result->limits.prefix_lanes() == 0);
  CHECK(result->notes.empty());
  options.scheduler.max_num_batched_tokens = 8;
  result = resolve_limits(options, facts, {});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("GPU") != std::string::npos);
}

TEST_CASE("every setting of the scheduler reaches it") {
  Options options;
  options.server.max_concurrent_requests = 9;
  options.server.request_timeout_seconds = 7;
  options.model.max_batch_size = 3;
  options.model.batch_wait_ms = 4;
  options.scheduler.scheduler_policy = QueuePolicy::kPriority;
  options.scheduler.queue_warn_ms = 5;
  options.scheduler.long_prefill_token_threshold = 33;
  options.scheduler.group_by_length = true;
  options.scheduler.group_by_length_factor = 3.0;
  options.scheduler.enable_prefix_caching = true;
  const scheduler::Options scheduling = resolved(options).scheduling;
  CHECK(scheduling.max_concurrent_requests == 9);
  CHECK(scheduling.request_timeout_ns == 7 * kSecond);
  CHECK(scheduling.max_num_seqs == 3);
  CHECK(scheduling.batch_wait_ns == 4 * kMillisecond);
  CHECK(scheduling.policy == QueuePolicy::kPriority);
  CHECK(scheduling.queue_warn_ns == 5 * kMillisecond);
  CHECK(scheduling.long_prefill_token_threshold == 33);
  CHECK(scheduling.group_by_length_factor == 3.0);
  CHECK(scheduling.enable_prefix_caching);
  CHECK(scheduling.cache_when == scheduler::CacheWhen::kComputed);
  options.scheduler.group_by_length = false;
  CHECK(resolved(options).scheduling.group_by_length_factor == 0.0);
}

TEST_CASE("a model whose beginnings cannot be shared has no prefix cache, and the log says why") {
  Options options;
  options.scheduler.enable_prefix_caching = true;
  const ModelFacts windowed = {8192, 23'040, "the model attends to a sliding window"};
  const auto result = resolve_limits(options, windowed, kHost);
  REQUIRE(result.has_value());
  CHECK_FALSE(result->limits.scheduling.enable_prefix_caching);
  CHECK(result->limits.prefix_lanes() == 0);
  CHECK(result->notes.back() ==
        "enable_prefix_caching is off: the model attends to a sliding window");
}

TEST_CASE("without chunked prefill no prompt is longer than a step") {
  Options options;
  options.scheduler.enable_chunked_prefill = false;
  CHECK(resolved(options).scheduling.input_len_max() == 64);
}

TEST_CASE("a request is cut to what the limits allow") {
  Options options;
  options.model.max_model_len = 100;
  Limits limits = resolved(options);
  Request request;
  request.prompt.assign(90, 1);
  request.output_tokens_max = 50;
  REQUIRE(fit_request(request, limits).has_value());
  CHECK(request.output_tokens_max == 10);
  request.output_tokens_max = 0;
  limits.output_tokens_max = 7;
  REQUIRE(fit_request(request, limits).has_value());
  CHECK(request.output_tokens_max == 7);
}

TEST_CASE("a prompt that can never be computed is refused, or truncated where asked for") {
  Options options;
  options.model.max_model_len = 100;
  Limits limits = resolved(options);
  Request request;
  CHECK_FALSE(fit_request(request, limits).has_value());
  for (int i = 0; i < 100; ++i) request.prompt.push_back(i);
  const Status refused = fit_request(request, limits);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kBadRequest);
  CHECK(refused.error().message.find("99") != std::string::npos);
  limits.scheduling.on_input_too_long = InputTooLong::kTruncate;
  REQUIRE(fit_request(request, limits).has_value());
  CHECK(request.prompt.size() == 99);
  CHECK(request.prompt.front() == 1);  // the end is kept
  CHECK(request.output_tokens_max == 1);
}

TEST_CASE("this machine has a core and some memory") {
  const HostFacts host = read_host_facts();
  CHECK(host.cores >= 1);
  CHECK(host.free_memory_bytes > 0);
}

}  // namespace
}  // namespace hw::engine
