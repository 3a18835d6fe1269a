// What an engine counts about itself, under vLLM v1's names where vLLM counts the same.
#pragma once

#include <array>
#include <string_view>

#include "base/metrics.h"
#include "engine/request.h"

namespace hw::engine {

// Handles into a registry; a default one counts nowhere. Labels as vLLM's: engine="0", model_name.
struct EngineMetrics {
  EngineMetrics() = default;
  EngineMetrics(Registry& registry, std::string_view model_id);

  Counter prompt_tokens;     // of prompts that were read to their end
  Counter generated_tokens;  // the end token counts
  Counter preemptions;
  Counter refused;  // above max_concurrent_requests
  Counter failed_steps;
  Counter cache_queries;  // tokens of prompts, looked up in the prefix cache
  Counter cache_hits;     // of them, found
  std::array<Counter, scheduler::kHoldCount> held_steps;  // in which the queue was held, by Hold
  std::array<Counter, kFinishReasonCount> finished;       // by FinishReason
  HistogramMetric first_token;                            // all in nanoseconds
  HistogramMetric token_gap;
  HistogramMetric request;  // arrival to end, however it ended
  HistogramMetric queue;
  HistogramMetric prefill;
  HistogramMetric decode;
  HistogramMetric step;
  HistogramMetric step_tokens;  // tokens
  Gauge running;                // sequences
  Gauge waiting;
  Gauge blocks_used_ppm;  // millionths of the KV cache
};

}  // namespace hw::engine
