#include "app/engine_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "config/problem.h"

namespace hw::app {
namespace {

ReadEngineFile read(std::string text, std::vector<config::OptionFlag> flags = {}) {
  config::ConfigSources sources;
  sources.file = "engine.toml";
  sources.text = std::move(text);
  sources.flags = std::move(flags);
  return read_engine_file(sources);
}

std::string problem_of(const std::string& text) {
  const ReadEngineFile file = read(text);
  REQUIRE_FALSE(file.problems.empty());
  return config::describe(file.problems.front(), config::Language::kEnglish);
}

constexpr const char* kArticle = R"(
[server]
host = "0.0.0.0"
port = 8000
max_concurrent_requests = 255
request_timeout_seconds = 119

[model]
model_id = "my-model"
kv_cache_ratio = 0.84
max_batch_size = 31
batch_wait_ms = 9
max_tokens = 2047

[scheduler]
policy = "continuous_batching"
queue_warn_ms = 201
)";

TEST_CASE("every key of the article's file arrives where it says") {
  const ReadEngineFile file = read(kArticle);
  REQUIRE(file.problems.empty());
  const engine::Options& o = file.config;
  CHECK(o.server.host == "0.0.0.0");
  CHECK(o.server.port == 8000);
  CHECK(o.server.max_concurrent_requests == 255);
  CHECK(o.server.request_timeout_seconds == 119);
  CHECK(o.model.model_id == "my-model");
  CHECK(o.model.kv_cache_ratio == 0.84);
  CHECK(o.model.max_batch_size == 31);
  CHECK(o.model.batch_wait_ms == 9);
  CHECK(o.model.max_tokens == 2047);
  CHECK(o.scheduler.policy == engine::BatchPolicy::kContinuousBatching);
  CHECK(o.scheduler.queue_warn_ms == 201);
}

TEST_CASE("so does every key of ours") {
  const ReadEngineFile file = read(R"(
[model]
max_num_seqs = 3
backend = "gpu-model"
on_worker_loss = "recompute"
path = "m.gguf"
gpu = "H100"
shape = "llama-3.1-8b"
tensor_parallel = 2
kv_blocks = 1000
max_model_len = 4096
max_input_len = 4000
on_input_too_long = "truncate"
[scheduler]
watermark = 0.25
group_by_length = true
group_by_length_factor = 3
enable_chunked_prefill = false
max_num_batched_tokens = 512
scheduler_policy = "priority"
enable_prefix_caching = true
long_prefill_token_threshold = 64
)");
  REQUIRE(file.problems.empty());
  const engine::Options& o = file.config;
  CHECK(o.model.max_batch_size == 3);
  CHECK(o.model.backend == engine::BackendKind::kGpuModel);
  CHECK(o.model.on_worker_loss == engine::WorkerLoss::kRecompute);
  CHECK(o.model.path == "m.gguf");
  CHECK(o.model.gpu == "H100");
  CHECK(o.model.shape == "llama-3.1-8b");
  CHECK(o.model.tensor_parallel == 2);
  CHECK(o.model.kv_blocks == 1000);
  CHECK(o.model.max_model_len == 4096);
  CHECK(o.model.max_input_len == 4000);
  CHECK(o.model.on_input_too_long == engine::InputTooLong::kTruncate);
  CHECK(o.scheduler.watermark == 0.25);
  CHECK(o.scheduler.group_by_length);
  CHECK(o.scheduler.group_by_length_factor == 3.0);
  CHECK_FALSE(o.scheduler.enable_chunked_prefill);
  CHECK(o.scheduler.max_num_batched_tokens == 512);
  CHECK(o.scheduler.scheduler_policy == engine::QueuePolicy::kPriority);
  CHECK(o.scheduler.enable_prefix_caching);
  CHECK(o.scheduler.long_prefill_token_threshold == 64);
}

TEST_CASE("two names of the batch size may agree, and must not differ") {
  CHECK(read("[model]\nmax_batch_size = 8\nmax_num_seqs = 8\n").problems.empty());
  const std::string problem = problem_of("[model]\nmax_batch_size = 8\nmax_num_seqs = 9\n");
  CHECK(problem.find("max_num_seqs") != std::string::npos);
  CHECK(problem.find("max_batch_size") != std::string::npos);
}

TEST_CASE("a value that is not known is refused with the list of what is") {
  const std::string problem = problem_of("[scheduler]\nscheduler_policy = \"lpm\"\n");
  CHECK(problem.find("fcfs") != std::string::npos);
  CHECK(problem.find("priority") != std::string::npos);
  CHECK(problem_of("[scheduler]\npolicy = \"static\"\n").find("continuous_batching") !=
        std::string::npos);
  CHECK(problem_of("[model]\non_input_too_long = \"cut\"\n").find("truncate") != std::string::npos);
}

TEST_CASE("every flag of another program stands for an option that there is, and means something") {
  std::set<std::string_view> flags;
  for (const FlagAlias& alias : engine_flag_aliases()) {
    CAPTURE(alias.flag);
    CHECK(flags.insert(alias.flag).second);
    const size_t dot = alias.option.find('.');
    const config::Section* section = engine_options().find(alias.option.substr(0, dot));
    REQUIRE(section != nullptr);
    const std::string_view name = alias.option.substr(dot + 1);
    CHECK(std::any_of(section->options.begin(), section->options.end(),
                      [&](const config::Option& option) { return option.name == name; }));
    if (alias.value.empty()) continue;
    CHECK(read("", {{std::string(alias.option), std::string(alias.value)}}).problems.empty());
  }
}

}  // namespace
}  // namespace hw::app
