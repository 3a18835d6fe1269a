#include "gpu_model/config_json.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "json/scan.h"

namespace hw::gpu_model {
namespace {

int count_of(json::Value value) {
  const int64_t number = value.integer().value_or(0);
  return static_cast<int>(std::clamp<int64_t>(number, -1, std::numeric_limits<int>::max()));
}

// What is needed once all fields are known.
struct Extras {
  int expert_ffn_plain = 0;  // intermediate_size of models whose experts have no width of their own
  int shared_experts = 0;
  int pattern = 0;          // every n-th layer has full attention
  bool listed = false;      // layer_types was there
  bool window_off = false;  // use_sliding_window is false
  bool multi_query = false;
  int window_from = -1;  // max_window_layers: lower layers have full attention
  bool recurrent = false;
};

void read_layer_types(json::Array types, ModelShape& shape, Extras& extras) {
  extras.listed = true;
  shape.window_layers = 0;
  types.each([&](json::Value type) {
    const std::string_view word = type.text_or("");
    if (word == "sliding_attention" || word == "chunked_attention") ++shape.window_layers;
    if (word == "linear_attention" || word == "mamba") extras.recurrent = true;
  });
}

void read_quantization(json::Object object, ModelShape& shape) {
  std::string_view method = object.find("quant_method").text_or("");
  const int64_t bits = object.find("bits").integer().value_or(0);
  if (method == "mxfp4") {  // gpt-oss: experts alone
    shape.expert_weights = Precision::kFp4;
  } else if (method == "fp8" || method == "fbgemm_fp8" || bits == 8) {
    shape.weights = shape.expert_weights = Precision::kFp8;
  } else if (method == "awq" || method == "gptq" || method == "nvfp4" || bits == 4) {
    shape.weights = shape.expert_weights = Precision::kFp4;
  }
}

// The field that a name of the file stands for; nullptr: none.
int* plain_field(ModelShape& shape, Extras& extras, std::string_view key) {
  struct Field {
    std::string_view key;
    int* at;
  };
  const Field fields[] = {
      {"num_hidden_layers", &shape.layers},
      {"hidden_size", &shape.hidden},
      {"num_attention_heads", &shape.heads},
      {"num_key_value_heads", &shape.kv_heads},
      {"head_dim", &shape.head_dim},
      {"v_head_dim", &shape.value_dim},
      {"intermediate_size", &shape.ffn},
      {"vocab_size", &shape.vocab},
      {"max_position_embeddings", &shape.context_max},
      {"sliding_window", &shape.window},
      {"attention_chunk_size", &shape.window},
      {"sliding_window_pattern", &extras.pattern},
      {"max_window_layers", &extras.window_from},
      {"num_local_experts", &shape.experts},
      {"num_experts", &shape.experts},
      {"n_routed_experts", &shape.experts},
      {"num_experts_per_tok", &shape.experts_active},
      {"moe_intermediate_size", &shape.expert_ffn},
      {"n_shared_experts", &extras.shared_experts},
      {"shared_expert_intermediate_size", &shape.shared_ffn},
      {"first_k_dense_replace", &shape.dense_layers},
      {"kv_lora_rank", &shape.kv_lora_rank},
      {"q_lora_rank", &shape.q_lora_rank},
      {"qk_rope_head_dim", &shape.rope_dim},
      {"qk_nope_head_dim", &shape.nope_dim},
  };
  for (const Field& field : fields) {
    if (field.key == key) return field.at;
  }
  return nullptr;
}

void read_field(std::string_view key, json::Value value, ModelShape& shape, Extras& extras) {
  if (int* field = plain_field(shape, extras, key); field != nullptr) {
    if (!value.is_null()) *field = count_of(value);
  } else if (key == "tie_word_embeddings") {
    shape.tied_embeddings = value.boolean().value_or(false);
  } else if (key == "use_sliding_window") {
    extras.window_off = !value.boolean().value_or(true);
  } else if (key == "multi_query") {
    extras.multi_query = value.boolean().value_or(false);
  } else if (key == "layer_types") {
    read_layer_types(value.array(), shape, extras);
  } else if (key == "quantization_config") {
    read_quantization(value.object(), shape);
  } else if (key == "mamba_d_state" || key == "hybrid_override_pattern") {
    extras.recurrent = true;
  }
}

void settle_window(ModelShape& shape, const Extras& extras) {
  if (extras.window_off || shape.window <= 0) {
    shape.window = shape.window_layers = 0;
  } else if (extras.pattern > 1) {
    shape.window_layers = shape.layers - shape.layers / extras.pattern;
  } else if (!extras.listed) {
    const int full = std::clamp(extras.window_from, 0, shape.layers);
    shape.window_layers = shape.layers - full;
  }
  if (shape.window_layers == 0) shape.window = 0;
}

void settle(ModelShape& shape, const Extras& extras) {
  if (shape.kv_heads == 0) shape.kv_heads = extras.multi_query ? 1 : shape.heads;
  if (shape.latent()) shape.head_dim = shape.nope_dim + shape.rope_dim;
  if (shape.head_dim == 0 && shape.heads > 0) shape.head_dim = shape.hidden / shape.heads;
  if (shape.value_dim == 0) shape.value_dim = shape.head_dim;
  if (shape.experts > 0 && shape.expert_ffn == 0) shape.expert_ffn = shape.ffn;
  const int64_t shared = int64_t{extras.shared_experts} * shape.expert_ffn;
  if (shared > 0) shape.shared_ffn = static_cast<int>(std::min<int64_t>(shared, 1 << 30));
  settle_window(shape, extras);
}

}  // namespace

Result<ModelShape> read_config_json(std::string_view text, std::string_view name) {
  if (text.size() > kConfigBytesMax) {
    return fail(ErrorCode::kConfig, concat(name, ": longer than ", kConfigBytesMax, " bytes"));
  }
  ModelShape shape;
  Extras extras;
  json::Document document(ErrorCode::kConfig);
  if (Status opened = document.open(text); !opened) return fail(opened.error());
  json::Object model = document.root();
  json::Object inner = model.find("text_config").object();
  const auto read = [&](std::string_view key, json::Value value) {
    read_field(key, value, shape, extras);
  };
  model.each(read);
  inner.each(read);  // says it better where both say it
  if (Status finished = document.finish(); !finished) return fail(finished.error());
  if (extras.recurrent) {
    return fail(ErrorCode::kConfig,
                concat(name, ": Mamba and linear attention are not modelled, only attention"));
  }
  settle(shape, extras);
  shape.name = name;
  if (Status valid = validate(shape); !valid) return fail(valid.error());
  return shape;
}

}  // namespace hw::gpu_model
