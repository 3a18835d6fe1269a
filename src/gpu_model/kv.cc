#include "gpu_model/kv.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hw::gpu_model {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr int kLatentFp8LayerBytes = 656;

int64_t divide_up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

int64_t number_bytes(KvPrecision precision) {
  switch (precision) {
    case KvPrecision::kBf16:
      return 2;
    case KvPrecision::kFp8:
    case KvPrecision::kFp8Latent:
      return 1;
  }
  return 2;
}

int64_t layer_token_bytes(const ModelShape& shape, const KvOptions& options) {
  if (options.precision == KvPrecision::kFp8Latent) return kLatentFp8LayerBytes;
  const int64_t bytes = number_bytes(options.precision);
  if (shape.latent()) return (int64_t{shape.kv_lora_rank} + shape.rope_dim) * bytes;
  const int64_t heads = std::max(1, shape.kv_heads / options.tensor_parallel);
  return heads * (int64_t{shape.head_dim} + shape.value_dim) * bytes;
}

// vLLM's rule: groups as large as the fewer layers, unless the kinds are nearly as many.
int group_size(int full, int windowed) {
  if (full == 0 || windowed == 0) return full + windowed;
  const int fewer = std::min(full, windowed);
  const int more = std::max(full, windowed);
  return 2 * more < 3 * fewer ? more : fewer;
}

}  // namespace

std::string_view kv_precision_name(KvPrecision precision) {
  switch (precision) {
    case KvPrecision::kBf16:
      return "bf16";
    case KvPrecision::kFp8:
      return "fp8";
    case KvPrecision::kFp8Latent:
      return "fp8_ds_mla";
  }
  return "bf16";
}

double plain_kv_bytes(int64_t layers, int64_t kv_heads, int64_t head_dim, int64_t seq,
                      int64_t batch, double bytes_per_number) {
  return 2.0 * static_cast<double>(layers) * static_cast<double>(kv_heads) *
         static_cast<double>(head_dim) * static_cast<double>(seq) * static_cast<double>(batch) *
         bytes_per_number;
}

double KvLayout::bytes_per_token() const {
  const int groups = full_groups > 0 ? full_groups : window_groups;
  return static_cast<double>(block_bytes()) * groups / block_tokens;
}

int64_t KvLayout::blocks_in(double bytes) const {
  if (bytes <= 0) return 0;
  const auto layer_blocks = static_cast<int64_t>(bytes / static_cast<double>(layer_block_bytes));
  return layer_blocks / group_layers;
}

int64_t KvLayout::blocks_of_request(int64_t tokens) const {
  const int64_t full = divide_up(tokens, block_tokens);
  const int64_t kept = std::min<int64_t>(int64_t{window} - 1 + in_flight_tokens, tokens);
  const int64_t windowed = divide_up(kept, block_tokens) + 1;
  return full * full_groups + (window_groups > 0 ? windowed * window_groups : 0);
}

double KvLayout::concurrency(int64_t blocks, int64_t tokens) const {
  return static_cast<double>(blocks) / static_cast<double>(blocks_of_request(tokens));
}

int64_t KvLayout::longest_request(int64_t blocks, int64_t requests, int64_t limit) const {
  int64_t fits = 0;
  for (int64_t too_long = limit + 1; too_long - fits > 1;) {
    const int64_t middle = fits + (too_long - fits) / 2;
    (blocks_of_request(middle) * requests <= blocks ? fits : too_long) = middle;
  }
  return fits;
}

Result<KvLayout> kv_layout(const ModelShape& shape, const KvOptions& options) {
  const int tp = options.tensor_parallel;
  if (tp < 1 || shape.heads % tp != 0) {
    return fail(ErrorCode::kConfig, concat("tensor parallelism ", tp, " does not divide the ",
                                           shape.heads, " heads of ", shape.name));
  }
  if (tp > 1 && !shape.latent() && shape.kv_heads % tp != 0 && tp % shape.kv_heads != 0) {
    return fail(ErrorCode::kConfig, concat("tensor parallelism ", tp, " and the ", shape.kv_heads,
                                           " KV heads of ", shape.name, " do not divide"));
  }
  if (options.precision == KvPrecision::kFp8Latent && !shape.latent()) {
    return fail(ErrorCode::kConfig,
                concat("fp8_ds_mla is for latent attention, which ", shape.name, " has not"));
  }
  KvLayout out;
  out.block_tokens = options.block_tokens;
  out.layer_block_bytes = layer_token_bytes(shape, options) * options.block_tokens;
  out.group_layers = group_size(shape.full_layers(), shape.window_layers);
  out.full_groups = static_cast<int>(divide_up(shape.full_layers(), out.group_layers));
  out.window_groups = static_cast<int>(divide_up(shape.window_layers, out.group_layers));
  out.window = shape.window;
  out.in_flight_tokens = options.steps_in_flight * options.max_num_batched_tokens;
  return out;
}

double overhead_bytes(const ModelShape& shape, const KvOptions& options, int max_num_seqs) {
  constexpr double kAloneGib = 0.16, kTogetherGib = 0.6, kGraphsGib = 0.5;
  const int width = std::max(shape.ffn, shape.experts_active * shape.expert_ffn);
  const double row = 4.0 * shape.hidden + 3.0 * width / options.tensor_parallel;
  const double activations = options.max_num_batched_tokens * row * 2.0;
  const double logits = 4.0 * max_num_seqs * shape.vocab;
  const double fixed = options.tensor_parallel > 1 ? kTogetherGib : kAloneGib;
  return activations + logits + (fixed + kGraphsGib) * kGib;
}

MemoryShare share_memory(const ModelShape& shape, const Gpu& gpu, int tensor_parallel,
                         double utilisation, double overhead) {
  MemoryShare out;
  out.visible = gpu.memory_gib * kGib;
  out.usable = out.visible * utilisation;
  out.weights = shape.weight_bytes() / tensor_parallel;
  out.overhead = overhead;
  out.kv = out.usable - out.weights - out.overhead;
  return out;
}

}  // namespace hw::gpu_model
