#include "engine/limits.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "scheduler/scheduler.h"

namespace hw::engine {
namespace {

// The KV cache of the CPU backend unless asked for otherwise: this many cells for each sequence.
// Chats are shorter; a longer sequence takes from the others, for the pool is one.
constexpr int64_t kCpuCellsPerSequence = 1024;

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

// The whole blocks in so many cells, and the null block.
int64_t blocks_of(int64_t cells) {
  return cells / scheduler::kBlockTokens + 1;
}

Status resolve_blocks(const ModelOptions& options, const ModelFacts& model, const HostFacts& host,
                      int wanted_len, Limits& limits) {
  if (options.kv_blocks > 0) {
    limits.scheduling.kv_blocks = options.kv_blocks;
  } else if (model.kv_blocks > 0) {
    limits.scheduling.kv_blocks = model.kv_blocks;
  } else {
    const int64_t sequences = limits.sequences_max();
    const int64_t cells = std::max<int64_t>(kCpuCellsPerSequence * sequences, wanted_len);
    const int64_t in_memory = cells_in_memory(options, model, host);
    limits.scheduling.kv_blocks = blocks_of(std::min(cells, in_memory));
  }
  if (limits.cells() < scheduler::kBlockTokens) {
    return contradiction(options.kv_blocks > 0
                             ? "[model] kv_blocks must be at least 2, for one is never used"
                             : "[model] kv_cache_ratio leaves no memory for the KV cache");
  }
  return {};
}

Status resolve_lengths(const ModelOptions& options, const ModelFacts& model, const HostFacts& host,
                       Limits& limits) {
  const int usual = model.bounds.model_len_default > 0
                        ? std::min(model.context_len, model.bounds.model_len_default)
                        : model.context_len;
  const int wanted = options.max_model_len > 0 ? options.max_model_len : usual;
  if (wanted > model.context_len) {
    return contradiction(concat("[model] max_model_len ", wanted, " is above the ",
                                model.context_len, " tokens that the model was trained for"));
  }
  if (Status blocks = resolve_blocks(options, model, host, wanted, limits); !blocks) return blocks;
  if (limits.cells() < options.max_model_len) {
    return contradiction(concat("[model] max_model_len ", options.max_model_len,
                                " does not fit the KV cache of ", limits.cells(), " tokens"));
  }
  scheduler::Options& scheduling = limits.scheduling;
  scheduling.max_model_len = static_cast<int>(std::min<int64_t>(wanted, limits.cells()));
  scheduling.max_input_len = options.max_input_len;
  scheduling.on_input_too_long = options.on_input_too_long;
  if (options.max_input_len >= scheduling.max_model_len) {
    return contradiction(concat("[model] max_input_len ", options.max_input_len,
                                " must be below max_model_len ", scheduling.max_model_len));
  }
  return {};
}

Status resolve_step(const SchedulerOptions& options, const BackendBounds& bounds, Limits& limits) {
  const int asked = options.max_num_batched_tokens;
  if (asked != 0 && (asked < bounds.step_tokens_min || asked > bounds.step_tokens_max)) {
    return contradiction(concat("[scheduler] max_num_batched_tokens ", asked, " must be from ",
                                bounds.step_tokens_min, " to ", bounds.step_tokens_max, " on ",
                                bounds.name,
                                ": a smaller step wastes it, a larger one holds everyone"));
  }
  scheduler::Options& scheduling = limits.scheduling;
  scheduling.max_num_batched_tokens = asked == 0 ? bounds.step_tokens_default : asked;
  scheduling.enable_chunked_prefill = options.enable_chunked_prefill;
  scheduling.long_prefill_token_threshold = options.long_prefill_token_threshold;
  scheduling.policy = options.scheduler_policy;
  scheduling.watermark = options.watermark;
  scheduling.queue_warn_ns = options.queue_warn_ms * kMillisecond;
  scheduling.group_by_length_factor =
      options.group_by_length ? options.group_by_length_factor : 0.0;
  return {};
}

void resolve_prefix_cache(const SchedulerOptions& options, const ModelFacts& model,
                          Limits& limits) {
  scheduler::Options& scheduling = limits.scheduling;
  scheduling.enable_prefix_caching = options.enable_prefix_caching && model.no_prefix_cache.empty();
  scheduling.cache_when = model.bounds.cache_when;
  scheduling.cached_blocks_per_place_max = model.bounds.cached_blocks_per_place_max;
}

std::vector<std::string> notes_on(const Options& options, const ModelFacts& model,
                                  const Limits& limits) {
  std::vector<std::string> notes;
  if (options.model.max_batch_size > limits.sequences_max()) {
    notes.push_back(concat("max_batch_size ", options.model.max_batch_size, " is cut to the ",
                           limits.sequences_max(), " that ", model.bounds.name, " takes"));
  }
  if (options.scheduler.enable_prefix_caching && !model.no_prefix_cache.empty()) {
    notes.push_back(concat("enable_prefix_caching is off: ", model.no_prefix_cache));
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
  ResolvedLimits resolved;
  Limits& limits = resolved.limits;
  scheduler::Options& scheduling = limits.scheduling;
  scheduling.max_concurrent_requests = options.server.max_concurrent_requests;
  scheduling.max_num_seqs = std::min(options.model.max_batch_size, model.bounds.sequences_max);
  scheduling.request_timeout_ns = options.server.request_timeout_seconds * kSecond;
  scheduling.batch_wait_ns = options.model.batch_wait_ms * kMillisecond;
  limits.output_tokens_max = options.model.max_tokens;
  limits.on_worker_loss = options.model.on_worker_loss;
  limits.threads = options.model.threads > 0 ? options.model.threads : std::max(1, host.cores - 1);
  Status status = resolve_lengths(options.model, model, host, limits);
  if (status) status = resolve_step(options.scheduler, model.bounds, limits);
  resolve_prefix_cache(options.scheduler, model, limits);
  if (status) status = scheduler::validate(scheduling);
  if (!status) return fail(std::move(status.error()));
  resolved.notes = notes_on(options, model, limits);
  return resolved;
}

Status fit_request(Request& request, const Limits& limits) {
  const int asked =
      request.output_tokens_max > 0 ? request.output_tokens_max : limits.output_tokens_max;
  scheduler::Request wish;
  wish.prompt = std::move(request.prompt);
  wish.output_tokens_max = std::min(asked, limits.output_tokens_max);
  Status fits = scheduler::fit_request(wish, limits.scheduling);
  request.prompt = std::move(wish.prompt);
  request.output_tokens_max = wish.output_tokens_max;
  return fits;
}

}  // namespace hw::engine
