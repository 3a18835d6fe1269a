#include "engine/limits.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace hw::engine {
namespace {

// The KV cache of the CPU backend unless asked for otherwise: this many cells for each sequence.
// Chats are shorter; a longer sequence takes from the others, for the pool is one.
constexpr int64_t kCpuCellsPerSequence = 1024;
constexpr int kCpuModelLenDefault = 8192;

tl::unexpected<Error> contradiction(std::string message) {
  return fail(ErrorCode::kConfig, std::move(message));
}

// Cells that kv_cache_ratio of the free memory holds.
int64_t cells_in_memory(const ModelOptions& options, const ModelFacts& model,
                        const HostFacts& host) {
  if (model.kv_bytes_per_token <= 0) return INT64_MAX;
  const double bytes = static_cast<double>(host.free_memory_bytes) * options.kv_cache_ratio;
  return static_cast<int64_t>(bytes) / model.kv_bytes_per_token;
}

Status resolve_lengths(const ModelOptions& options, const ModelFacts& model, const HostFacts& host,
                       Limits& limits) {
  const int wanted = options.max_model_len > 0 ? options.max_model_len
                                               : std::min(model.context_len, kCpuModelLenDefault);
  if (wanted > model.context_len) {
    return contradiction(concat("[model] max_model_len ", wanted, " is above the ",
                                model.context_len, " tokens that the model was trained for"));
  }
  const int64_t in_memory = cells_in_memory(options, model, host);
  limits.cells = options.kv_blocks > 0
                     ? options.kv_blocks * kBlockTokens
                     : std::max<int64_t>(kCpuCellsPerSequence * limits.sequences_max, wanted);
  if (options.kv_blocks == 0) limits.cells = std::min(limits.cells, in_memory);
  if (limits.cells < kBlockTokens) {
    return contradiction("[model] kv_cache_ratio leaves no memory for the KV cache");
  }
  if (limits.cells < options.max_model_len) {
    return contradiction(concat("[model] max_model_len ", options.max_model_len,
                                " does not fit the KV cache of ", limits.cells, " tokens"));
  }
  limits.model_len_max = static_cast<int>(std::min<int64_t>(wanted, limits.cells));
  limits.input_len_max = limits.model_len_max - 1;
  if (options.max_input_len > limits.input_len_max) {
    return contradiction(concat("[model] max_input_len ", options.max_input_len,
                                " must be below max_model_len ", limits.model_len_max));
  }
  if (options.max_input_len > 0) limits.input_len_max = options.max_input_len;
  return {};
}

Status resolve_step(const SchedulerOptions& options, Limits& limits) {
  const int asked = options.max_num_batched_tokens;
  if (asked != 0 && (asked < kCpuStepTokensMin || asked > kCpuStepTokensMax)) {
    return contradiction(concat("[scheduler] max_num_batched_tokens ", asked,
                                " must be from 64 to 512 on the CPU: a smaller step wastes the "
                                "core, a larger one holds everyone for seconds"));
  }
  limits.step_tokens_max = asked == 0 ? kCpuStepTokensMin : asked;
  limits.chunked_prefill = options.enable_chunked_prefill;
  limits.prompt_step_tokens_max = limits.step_tokens_max;
  if (options.long_prefill_token_threshold > 0) {
    limits.prompt_step_tokens_max =
        std::min(limits.step_tokens_max, options.long_prefill_token_threshold);
  }
  if (!limits.chunked_prefill) {
    limits.prompt_step_tokens_max = limits.step_tokens_max;
    limits.input_len_max = std::min(limits.input_len_max, limits.step_tokens_max);
  }
  return {};
}

std::vector<std::string> notes_on(const Options& options, const Limits& limits) {
  std::vector<std::string> notes;
  if (options.model.max_batch_size > limits.sequences_max) {
    notes.push_back(concat("max_batch_size ", options.model.max_batch_size,
                           " is cut to the CPU backend's ", limits.sequences_max));
  }
  if (options.scheduler.enable_prefix_caching) {
    notes.push_back("enable_prefix_caching is not in effect in this version");
  }
  if (options.scheduler.group_by_length) {
    notes.push_back("group_by_length is not in effect in this version");
  }
  if (options.scheduler.scheduler_policy == QueuePolicy::kPriority) {
    notes.push_back("scheduler_policy priority is not in effect in this version: fcfs is used");
  }
  return notes;
}

}  // namespace

HostFacts read_host_facts() {
  HostFacts host;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) host.cores = std::max(1, CPU_COUNT(&set));
  if (FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    long long kib = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::sscanf(line, "MemAvailable: %lld kB", &kib) == 1) host.free_memory_bytes = kib << 10;
    }
    std::fclose(file);
  }
  return host;
}

Result<ResolvedLimits> resolve_limits(const Options& options, const ModelFacts& model,
                                      const HostFacts& host) {
  if (options.model.backend != BackendKind::kLlama) {
    return contradiction("[model] backend gpu-model is not in this version; use llama");
  }
  ResolvedLimits resolved;
  Limits& limits = resolved.limits;
  limits.requests_max = options.server.max_concurrent_requests;
  limits.sequences_max = std::min(options.model.max_batch_size, kCpuSequencesMax);
  if (Status status = resolve_lengths(options.model, model, host, limits); !status) {
    return fail(std::move(status.error()));
  }
  if (Status status = resolve_step(options.scheduler, limits); !status) {
    return fail(std::move(status.error()));
  }
  limits.watermark_cells =
      static_cast<int64_t>(static_cast<double>(limits.cells) * options.scheduler.watermark);
  limits.on_input_too_long = options.model.on_input_too_long;
  limits.output_tokens_max = options.model.max_tokens;
  limits.threads = options.model.threads > 0 ? options.model.threads : std::max(1, host.cores - 1);
  limits.request_timeout_ns = options.server.request_timeout_seconds * kSecond;
  limits.batch_wait_ns = options.model.batch_wait_ms * kMillisecond;
  limits.queue_warn_ns = options.scheduler.queue_warn_ms * kMillisecond;
  resolved.notes = notes_on(options, limits);
  return resolved;
}

Status fit_request(Request& request, const Limits& limits) {
  if (request.prompt.empty()) return fail(ErrorCode::kBadRequest, "the prompt has no token");
  const auto length = static_cast<int64_t>(request.prompt.size());
  if (length > limits.input_len_max) {
    if (limits.on_input_too_long == InputTooLong::kReject) {
      return fail(ErrorCode::kBadRequest,
                  concat("the prompt has ", length, " tokens; this instance takes at most ",
                         limits.input_len_max));
    }
    request.prompt.erase(request.prompt.begin(), request.prompt.end() - limits.input_len_max);
  }
  const int room = limits.model_len_max - static_cast<int>(request.prompt.size());
  const int asked =
      request.output_tokens_max > 0 ? request.output_tokens_max : limits.output_tokens_max;
  request.output_tokens_max = std::min({asked, limits.output_tokens_max, room});
  return {};
}

}  // namespace hw::engine
