// ModelShape: the numbers of a transformer that decide how much it computes and keeps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hw::gpu_model {

// How weights are held.
enum class Precision : uint8_t {
  kBf16,  // and FP16: 2 bytes
  kFp8,   // 1 byte
  kFp4,   // and 4-bit integers: 4 bits and their scales
};
// Bytes of one weight: 2, 1, 0.53 (4 bits, and 8 bits of scale for each 32).
double bytes_of(Precision precision);
// "bf16", "fp8", "fp4".
std::string_view precision_name(Precision precision);
// Reads those names, and "fp16", "int4", "mxfp4", "nvfp4"; false for others.
bool parse_precision(std::string_view name, Precision& out);

// One model. Counts are of the whole model, before tensor parallelism.
struct ModelShape {
  std::string name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int value_dim = 0;  // of one head; most often head_dim
  int ffn = 0;        // width of the gated feed-forward part of a layer without experts
  int vocab = 0;
  int context_max = 0;  // tokens; 0: not said
  bool tied_embeddings = false;

  int window = 0;         // tokens that a layer with a sliding window sees; 0: there are none
  int window_layers = 0;  // of `layers`, those

  int experts = 0;  // of a layer with experts; 0: there are none
  int experts_active = 0;
  int expert_ffn = 0;
  int shared_ffn = 0;    // width of what all tokens pass beside the experts
  int dense_layers = 0;  // of `layers`, those without experts in a model that has them

  // Multi-head latent attention (DeepSeek): one latent vector for keys and values. 0: none.
  int kv_lora_rank = 0;
  int q_lora_rank = 0;
  int rope_dim = 0;
  int nope_dim = 0;

  Precision weights = Precision::kBf16;         // but embeddings, which are BF16
  Precision expert_weights = Precision::kBf16;  // of experts
  double weight_bytes_told = 0;                 // by the file; 0: not told, to be computed

  // Whether attention is multi-head latent attention.
  bool latent() const { return kv_lora_rank > 0; }
  // Layers that see all positions.
  int full_layers() const { return layers - window_layers; }
  // Layers with experts.
  int expert_layers() const { return experts > 0 ? layers - dense_layers : 0; }
  // Weights of one layer's attention.
  double attention_weights() const;
  // All weights: norms and biases left out.
  double parameters() const;
  // Bytes of all weights: what the file says, else computed.
  double weight_bytes() const;
  // Sets how all weights are held; forgets what the file said.
  void hold_weights_as(Precision precision);
};

// kConfig, with the field's name, where a number is missing, out of range or contradicts another.
Status validate(const ModelShape& shape);

}  // namespace hw::gpu_model
