#include "gpu_model/shape.h"

#include <utility>

#include "base/text.h"

namespace hw::gpu_model {
namespace {

constexpr double kFp4Bytes = 0.53;
// Above every model there is, and small enough that products of three stay exact in a double.
constexpr int kCountMax = 1 << 24;
constexpr int kLayersMax = 4096;

}  // namespace

double bytes_of(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return 2.0;
    case Precision::kFp8:
      return 1.0;
    case Precision::kFp4:
      return kFp4Bytes;
  }
  return 2.0;
}

std::string_view precision_name(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp8:
      return "fp8";
    case Precision::kFp4:
      return "fp4";
  }
  return "bf16";
}

bool parse_precision(std::string_view name, Precision& out) {
  for (const auto& [word, precision] :
       {std::pair{"bf16", Precision::kBf16}, std::pair{"fp16", Precision::kBf16},
        std::pair{"fp8", Precision::kFp8}, std::pair{"int8", Precision::kFp8},
        std::pair{"fp4", Precision::kFp4}, std::pair{"int4", Precision::kFp4},
        std::pair{"mxfp4", Precision::kFp4}, std::pair{"nvfp4", Precision::kFp4}}) {
    if (name == word) {
      out = precision;
      return true;
    }
  }
  return false;
}

double ModelShape::attention_weights() const {
  const double d = hidden;
  if (!latent()) return d * (heads + 2.0 * kv_heads) * head_dim + d * heads * value_dim;
  const double query_dim = static_cast<double>(heads) * (nope_dim + rope_dim);
  const double query = q_lora_rank > 0 ? (d + query_dim) * q_lora_rank : d * query_dim;
  const double latents = d * (kv_lora_rank + rope_dim);
  const double up = static_cast<double>(kv_lora_rank) * heads * (nope_dim + value_dim);
  return query + latents + up + d * heads * value_dim;
}

double ModelShape::parameters() const {
  const double dense = 3.0 * hidden * ffn;
  const double with_experts =
      3.0 * hidden * expert_ffn * experts + 3.0 * hidden * shared_ffn + 1.0 * hidden * experts;
  const double embeddings = 1.0 * vocab * hidden * (tied_embeddings ? 1 : 2);
  return layers * attention_weights() + (layers - expert_layers()) * dense +
         expert_layers() * with_experts + embeddings;
}

double ModelShape::weight_bytes() const {
  if (weight_bytes_told > 0) return weight_bytes_told;
  const double in_experts = 3.0 * hidden * expert_ffn * experts * expert_layers();
  const double embeddings = 1.0 * vocab * hidden * (tied_embeddings ? 1 : 2);
  const double others = parameters() - in_experts - embeddings;
  return in_experts * bytes_of(expert_weights) + others * bytes_of(weights) +
         embeddings * bytes_of(Precision::kBf16);
}

void ModelShape::hold_weights_as(Precision precision) {
  weights = precision;
  expert_weights = precision;
  weight_bytes_told = 0;
}

Status validate(const ModelShape& shape) {
  const auto wrong = [](std::string_view field, int value, int least, int most) {
    return fail(ErrorCode::kConfig,
                concat("model shape: ", field, " is ", value, ", expected ", least, " to ", most));
  };
  struct Bound {
    std::string_view field;
    int value, least, most;
  };
  const Bound bounds[] = {
      {"layers", shape.layers, 1, kLayersMax},
      {"hidden size", shape.hidden, 1, kCountMax},
      {"attention heads", shape.heads, 1, kCountMax},
      {"KV heads", shape.kv_heads, 1, shape.heads},
      {"head dimension", shape.head_dim, 1, kCountMax},
      {"value dimension", shape.value_dim, 1, kCountMax},
      {"feed-forward width", shape.ffn, shape.experts > 0 ? 0 : 1, kCountMax},
      {"vocabulary", shape.vocab, 1, kCountMax},
      {"context length", shape.context_max, 0, 1 << 30},
      {"sliding window", shape.window, shape.window_layers > 0 ? 1 : 0, 1 << 30},
      {"sliding-window layers", shape.window_layers, 0, shape.layers},
      {"experts", shape.experts, 0, kCountMax},
      {"active experts", shape.experts_active, shape.experts > 0 ? 1 : 0, shape.experts},
      {"expert width", shape.expert_ffn, shape.experts > 0 ? 1 : 0, kCountMax},
      {"shared expert width", shape.shared_ffn, 0, kCountMax},
      {"layers without experts", shape.dense_layers, 0, shape.layers},
      {"kv_lora_rank", shape.kv_lora_rank, 0, kCountMax},
      {"q_lora_rank", shape.q_lora_rank, 0, kCountMax},
      {"qk_rope_head_dim", shape.rope_dim, shape.latent() ? 1 : 0, kCountMax},
      {"qk_nope_head_dim", shape.nope_dim, 0, kCountMax},
  };
  for (const Bound& bound : bounds) {
    if (bound.value < bound.least || bound.value > bound.most) {
      return wrong(bound.field, bound.value, bound.least, bound.most);
    }
  }
  return {};
}

}  // namespace hw::gpu_model
