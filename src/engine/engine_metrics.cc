#include "engine/engine_metrics.h"

namespace hw::engine {
namespace {

// vLLM v1's buckets, in seconds and in tokens, so that dashboards made for it fit.
constexpr double kFirstTokenBuckets[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,
                                         0.25,  0.5,   0.75, 1.0,  2.5,  5.0,  7.5,  10,
                                         20,    40,    80,   160,  640,  2560};
constexpr double kTokenGapBuckets[] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
                                       0.75, 1.0,   2.5,  5.0,   7.5, 10,   20,  40,  80};
constexpr double kRequestBuckets[] = {0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10,   15,  20,
                                      30,  40,  50,  60,  120, 240, 480, 960, 1920, 7680};
constexpr double kStepTokensBuckets[] = {1,   8,    16,   32,   64,   128,  256,
                                         512, 1024, 2048, 4096, 8192, 16384};
// 1, 2, 5 and their tens, up to the longest context of today's models.
constexpr double kSizeBuckets[] = {1,     2,      5,      10,     20,     50,    100,
                                   200,   500,    1000,   2000,   5000,   10000, 20000,
                                   50000, 100000, 200000, 500000, 1000000};

}  // namespace

EngineMetrics::EngineMetrics(Registry& registry, std::string_view model_id) {
  const Labels labels = {{"engine", "0"}, {"model_name", model_id}};
  const auto seconds = [&](std::string_view name, std::string_view help,
                           std::span<const double> buckets) {
    return registry.histogram(name, help, labels, buckets, kSecondsFromNs);
  };
  running = registry.gauge("vllm:num_requests_running",
                           "Number of requests in model execution batches.", labels);
  waiting = registry.gauge("vllm:num_requests_waiting",
                           "Number of requests waiting to be processed.", labels);
  const auto waiting_by = [&](std::string_view reason) {
    return registry.gauge("vllm:num_requests_waiting_by_reason",
                          "Number of requests waiting to be processed, by why.",
                          {{"engine", "0"}, {"model_name", model_id}, {"reason", reason}});
  };
  waiting_for_room = waiting_by("capacity");
  waiting_by("deferred").set(0);  // for a transfer or a grammar, neither of which is here
  blocks_used_ppm = registry.gauge("vllm:kv_cache_usage_perc",
                                   "KV-cache usage. 1 means 100 percent usage.", labels, 1e6);
  prompt_tokens =
      registry.counter("vllm:prompt_tokens_total", "Number of prefill tokens processed.", labels);
  const auto by_source = [&](std::string_view source) {
    return registry.counter("vllm:prompt_tokens_by_source_total",
                            "Number of prompt tokens by source.",
                            {{"engine", "0"}, {"model_name", model_id}, {"source", source}});
  };
  prompt_tokens_computed = by_source("local_compute");
  prompt_tokens_hit = by_source("local_cache_hit");
  prompt_tokens_cached = registry.counter("vllm:prompt_tokens_cached_total",
                                          "Number of cached prompt tokens.", labels);
  generated_tokens = registry.counter("vllm:generation_tokens_total",
                                      "Number of generation tokens processed.", labels);
  preemptions = registry.counter("vllm:num_preemptions_total",
                                 "Cumulative number of preemptions from the engine.", labels);
  cache_queries =
      registry.counter("vllm:prefix_cache_queries_total",
                       "Prefix cache queries, in terms of number of queried tokens.", labels);
  cache_hits = registry.counter("vllm:prefix_cache_hits_total",
                                "Prefix cache hits, in terms of number of cached tokens.", labels);
  for (int i = 0; i < scheduler::kHoldCount; ++i) {
    const std::string_view reason = scheduler::hold_name(static_cast<scheduler::Hold>(i));
    held_steps[static_cast<size_t>(i)] =
        registry.counter("headway_engine_held_steps_total",
                         "Steps in which the queue did not move, by what held it.",
                         {{"engine", "0"}, {"model_name", model_id}, {"reason", reason}});
  }
  for (int i = 0; i < kFinishReasonCount; ++i) {
    const std::string_view reason = finish_reason_name(static_cast<FinishReason>(i));
    finished[static_cast<size_t>(i)] =
        registry.counter("vllm:request_success_total", "Count of requests that ended, by how.",
                         {{"engine", "0"}, {"finished_reason", reason}, {"model_name", model_id}});
  }
  first_token =
      seconds("vllm:time_to_first_token_seconds", "Arrival to first token.", kFirstTokenBuckets);
  token_gap = seconds("vllm:inter_token_latency_seconds", "Gap between neighbouring tokens.",
                      kTokenGapBuckets);
  request = seconds("vllm:e2e_request_latency_seconds", "Arrival to end.", kRequestBuckets);
  queue = seconds("vllm:request_queue_time_seconds", "Arrival to first step.", kRequestBuckets);
  prefill =
      seconds("vllm:request_prefill_time_seconds", "First step to first token.", kRequestBuckets);
  decode =
      seconds("vllm:request_decode_time_seconds", "First token to last token.", kRequestBuckets);
  inference =
      seconds("vllm:request_inference_time_seconds", "First step to last token.", kRequestBuckets);
  token_time = seconds("vllm:request_time_per_output_token_seconds",
                       "Mean gap between the tokens of one request.", kTokenGapBuckets);
  add_sizes(registry, labels);
  add_watchdog(registry, labels, model_id);
  step = seconds("headway_engine_step_seconds", "Time of one step.", kTokenGapBuckets);
  failed_steps = registry.counter("headway_engine_failed_steps_total",
                                  "Steps that the backend could not compute.", labels);
  refused = registry.counter("headway_engine_refused_total",
                             "Requests refused above max_concurrent_requests.", labels);
}

// Tokens and answers of one request, and tokens of one step.
void EngineMetrics::add_sizes(Registry& registry, const Labels& labels) {
  const auto tokens = [&](std::string_view name, std::string_view help) {
    return registry.histogram(name, help, labels, kSizeBuckets, 1);
  };
  prompt_size = tokens("vllm:request_prompt_tokens", "Number of prefill tokens processed.");
  answer_size = tokens("vllm:request_generation_tokens", "Number of generation tokens processed.");
  prompt_computed = tokens("vllm:request_prefill_kv_computed_tokens",
                           "Prompt tokens that were computed, not found in the prefix cache.");
  answer_limit = tokens("vllm:request_params_max_tokens", "The max_tokens of requests.");
  answer_longest = tokens("vllm:request_max_num_generation_tokens",
                          "The most tokens of one of a request's answers; each has one.");
  answers = tokens("vllm:request_params_n", "The n of requests.");
  step_tokens = registry.histogram("vllm:iteration_tokens_total", "Tokens in one step.", labels,
                                   kStepTokensBuckets, 1);
}

void EngineMetrics::add_watchdog(Registry& registry, const Labels& labels,
                                 std::string_view model_id) {
  for (int i = 0; i < watchdog::kSignatureCount; ++i) {
    const std::string_view signature =
        watchdog::signature_name(static_cast<watchdog::Signature>(i));
    alarms[static_cast<size_t>(i)] =
        registry.counter("headway_engine_alarms_total", "Alarms of the watchdog, by signature.",
                         {{"engine", "0"}, {"model_name", model_id}, {"signature", signature}});
  }
  evicted = registry.counter("headway_engine_evicted_total",
                             "Sequences that the watchdog ended after their deadline.", labels);
  reclaimed_blocks = registry.counter("headway_engine_reclaimed_blocks_total",
                                      "Leaked blocks that the watchdog freed.", labels);
  worker_restarts = registry.counter("headway_engine_worker_restarts_total",
                                     "Backends that hung or died and were replaced.", labels);
  live = registry.gauge("headway_engine_live",
                        "0 while a step takes far longer than it should, else 1.", labels);
  live.set(1);
  block_drift = registry.gauge("headway_engine_block_drift",
                               "Blocks that are allocated but of no live sequence.", labels);
}

int64_t EngineMetrics::completions() const {
  int64_t sum = 0;
  for (const Counter& counter : finished) sum += counter.value();
  return sum;
}

}  // namespace hw::engine
