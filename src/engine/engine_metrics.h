// What an engine counts about itself, under vLLM v1's names where vLLM counts the same.
#pragma once

#include <array>
#include <string_view>

#include "base/metrics.h"
#include "engine/request.h"
#include "watchdog/watchdog.h"

namespace hw::engine {

// Handles into a registry; a default one counts nowhere. Labels as vLLM's: engine="0", model_name.
struct EngineMetrics {
  EngineMetrics() = default;
  EngineMetrics(Registry& registry, std::string_view model_id);

  Counter prompt_tokens;           // of prompts that were read to their end
  Counter prompt_tokens_computed;  // of them, computed here
  Counter prompt_tokens_hit;       // and found in the prefix cache
  Counter prompt_tokens_cached;    // the same, under vLLM's other name
  Counter generated_tokens;        // the end token counts
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
  HistogramMetric inference;                              // first step to last token
  HistogramMetric token_time;                             // mean gap of one request's tokens
  HistogramMetric step_tokens;                            // tokens, as the next three
  HistogramMetric prompt_size;                            // of requests that ended
  HistogramMetric answer_size;                            // likewise
  HistogramMetric answer_limit;                           // what they might have generated
  HistogramMetric answer_longest;                         // of a request's answers
  HistogramMetric answers;                                // asked for at once: n
  HistogramMetric prompt_computed;                        // of their prompts, not from the cache
  std::array<Counter, watchdog::kSignatureCount> alarms;  // by Signature
  Counter evicted;                                        // sequences, by the watchdog
  Counter reclaimed_blocks;                               // likewise
  Counter worker_restarts;
  Gauge live;         // 0 while a step takes far longer than it should
  Gauge block_drift;  // allocated, but of no live sequence
  Gauge running;      // sequences
  Gauge waiting;
  Gauge waiting_for_room;  // all of them: nothing else is waited for here
  Gauge blocks_used_ppm;   // millionths of the KV cache

  // Requests that ended, however they did.
  int64_t completions() const;

 private:
  void add_sizes(Registry& registry, const Labels& labels);
  void add_watchdog(Registry& registry, const Labels& labels, std::string_view model_id);
};

}  // namespace hw::engine
