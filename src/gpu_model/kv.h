// How much memory keys and values take, and what fits: vLLM's arithmetic (v1's kv_cache_interface
// and gpu_worker), with the hybrid allocation of models that have sliding windows.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "gpu_model/gpu.h"
#include "gpu_model/shape.h"

namespace hw::gpu_model {

// How keys and values are held.
enum class KvPrecision : uint8_t {
  kBf16,       // 2 bytes
  kFp8,        // 1 byte
  kFp8Latent,  // vLLM's fp8_ds_mla: 656 bytes a token and layer, of latent attention alone
};
// "bf16", "fp8", "fp8_ds_mla".
std::string_view kv_precision_name(KvPrecision precision);

// The plain formula, as articles have it: keys and values of all layers, heads and positions.
// batch · seq · layers · 2 · kv_heads · head_dim · bytes.
double plain_kv_bytes(int64_t layers, int64_t kv_heads, int64_t head_dim, int64_t seq,
                      int64_t batch, double bytes_per_number);

// What an engine is told.
struct KvOptions {
  KvPrecision precision = KvPrecision::kBf16;
  int tensor_parallel = 1;
  int block_tokens = 16;
  int max_num_batched_tokens = 8192;
  int steps_in_flight = 2;  // vLLM schedules a step ahead; layers with a window keep both
};

// The cache of one model on each of its GPUs. Layers with and without a window share one pool in
// groups of as many layers each.
struct KvLayout {
  int64_t layer_block_bytes = 0;  // one layer's part of a block, on one GPU
  int group_layers = 0;           // layers of one group; a block of the pool is a block of each
  int full_groups = 0;            // groups that keep all positions
  int window_groups = 0;          // groups that keep a window and the steps in flight
  int window = 0;
  int block_tokens = 16;
  int in_flight_tokens = 0;

  // A block of the pool, on one GPU.
  int64_t block_bytes() const { return layer_block_bytes * group_layers; }
  // Of a position, in layers that keep all of them; on one GPU.
  double bytes_per_token() const;
  // Of a block, given so many bytes on each GPU.
  int64_t blocks_in(double bytes) const;
  // Blocks that one request of `tokens` takes at most.
  int64_t blocks_of_request(int64_t tokens) const;
  // Requests of `tokens` that fit at once into `blocks`; not a whole number, as vLLM's log has it.
  double concurrency(int64_t blocks, int64_t tokens) const;
  // The longest request of which `requests` fit at once, at most `limit`; 0: none.
  int64_t longest_request(int64_t blocks, int64_t requests, int64_t limit) const;
};

// kConfig where the parallelism does not divide the heads, or the precision is not for the model.
Result<KvLayout> kv_layout(const ModelShape& shape, const KvOptions& options);

// How a GPU's memory is shared out, in bytes.
struct MemoryShare {
  double visible = 0;
  double usable = 0;    // visible · utilisation
  double weights = 0;   // of this GPU
  double overhead = 0;  // activations at their peak, logits, CUDA, NCCL, graphs
  double kv = 0;        // what is left; below 0: it does not fit
};

// What beside weights takes memory, estimated: tokens · (4·hidden + 3·ffn/tp) · 2 B of activations,
// max_num_seqs · vocab · 4 B of logits, CUDA and NCCL (0.16 GiB, 0.6 with tensor parallelism), CUDA
// graphs 0.5 GiB. An engine's own log is better.
double overhead_bytes(const ModelShape& shape, const KvOptions& options, int max_num_seqs);

// `utilisation` as vLLM's gpu_memory_utilization; `overhead` in bytes.
MemoryShare share_memory(const ModelShape& shape, const Gpu& gpu, int tensor_parallel,
                         double utilisation, double overhead);

}  // namespace hw::gpu_model
