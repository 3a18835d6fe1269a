// What holds in a running instance: settings, model and machine brought together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/options.h"
#include "engine/request.h"
#include "scheduler/options.h"

namespace hw::engine {

// The CPU backend's own bounds; the reasons are in options.h.
inline constexpr int kCpuSequencesMax = 8;
inline constexpr int kCpuStepTokensMin = 64;
inline constexpr int kCpuStepTokensMax = 512;
// Sequences of llama.cpp's own in which cached blocks are kept, and so the most blocks cached at
// one place: enough for every block of a default cache to begin a chain of nine. Each costs a row
// of scores in the context, 0.2 MB.
inline constexpr int kCpuPrefixLanes = 56;

// What a kind of backend takes.
struct BackendBounds {
  std::string_view name;  // "the CPU"
  int sequences_max = 0;
  int step_tokens_min = 0, step_tokens_max = 0, step_tokens_default = 0;
  int model_len_default = 0;  // where that is below the model's; 0: the model's
  scheduler::CacheWhen cache_when = scheduler::CacheWhen::kScheduled;
  int cached_blocks_per_place_max = 0;  // 0: no limit
};
// llama.cpp copies cells before it computes, and keeps cached ones in sequences of its own.
inline constexpr BackendBounds kCpuBounds = {.name = "the CPU",
                                             .sequences_max = kCpuSequencesMax,
                                             .step_tokens_min = kCpuStepTokensMin,
                                             .step_tokens_max = kCpuStepTokensMax,
                                             .step_tokens_default = kCpuStepTokensMin,
                                             .model_len_default = 8192,
                                             .cache_when = scheduler::CacheWhen::kComputed,
                                             .cached_blocks_per_place_max = kCpuPrefixLanes};
// As vLLM: whatever the options allow.
inline constexpr BackendBounds kGpuBounds = {.name = "the GPU model",
                                             .sequences_max = 4096,
                                             .step_tokens_min = 16,
                                             .step_tokens_max = 1 << 20,
                                             .step_tokens_default = 8192};

// Of the weights, and of what computes them.
struct ModelFacts {
  int context_len = 0;  // tokens, as trained
  int64_t kv_bytes_per_token = 0;
  std::string no_prefix_cache = {};  // why beginnings cannot be shared; empty: they can
  int64_t kv_blocks = 0;  // that the memory holds, all of which are taken; 0: as many as are of use
  BackendBounds bounds = kCpuBounds;
};

// Of the machine.
struct HostFacts {
  int cores = 1;
  int64_t free_memory_bytes = 0;
};

// Reads them of this machine: cores this process may use, MemAvailable of /proc/meminfo.
HostFacts read_host_facts();

// All of it, checked.
struct Limits {
  scheduler::Options scheduling;
  int output_tokens_max = 0;  // cap and default of an answer
  WorkerLoss on_worker_loss = WorkerLoss::kError;
  int threads = 1;

  // Requests, waiting and running.
  int requests_max() const { return scheduling.max_concurrent_requests; }
  // Of them, running.
  int sequences_max() const { return scheduling.max_num_seqs; }
  // Tokens in one step.
  int step_tokens_max() const { return scheduling.max_num_batched_tokens; }
  // Tokens that all blocks hold, without the null block.
  int64_t cells() const { return (scheduling.kv_blocks - 1) * scheduler::kBlockTokens; }
  // Sequences in which a backend keeps cached blocks; 0: none are cached.
  int prefix_lanes() const {
    return scheduling.enable_prefix_caching ? scheduling.cached_blocks_per_place_max : 0;
  }
};

// What resolve_limits() gives.
struct ResolvedLimits {
  Limits limits;
  std::vector<std::string> notes;  // what was cut or is not in effect, for the log
};

// Brings them together. kConfig with the setting's name where they contradict each other.
Result<ResolvedLimits> resolve_limits(const Options& options, const ModelFacts& model,
                                      const HostFacts& host);

// Cuts the request's wish to what the limits allow, before it is submitted. kBadRequest with the
// numbers where it can never be computed, as scheduler::fit_request().
Status fit_request(Request& request, const Limits& limits);

}  // namespace hw::engine
