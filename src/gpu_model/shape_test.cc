#include "gpu_model/shape.h"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <string>

#include "base/text.h"
#include "gpu_model/catalogue.h"
#include "gpu_model/config_json.h"
#include "gpu_model/gguf.h"
#include "gpu_model/gpu.h"

namespace hw::gpu_model {
namespace {

TEST_CASE("known models have as many weights as their names say") {
  struct Known {
    std::string_view name;
    double billions;
  };
  const Known known[] = {
      {"Llama-2-7b", 6.74},        {"Llama-2-70b", 68.98},    {"Llama-3.1-8B", 8.03},
      {"Llama-3.1-70B", 70.55},    {"Llama-3.1-405B", 405.9}, {"Llama-3.2-1B", 1.236},
      {"Qwen2.5-7B", 7.62},        {"Qwen2.5-72B", 72.7},     {"Qwen3-32B", 32.8},
      {"Qwen3-30B-A3B", 30.5},     {"Qwen3-235B-A22B", 235},  {"Mistral-7B-v0.3", 7.25},
      {"Mixtral-8x7B", 46.7},      {"Mixtral-8x22B", 140.6},  {"gemma-3-27b", 27.0},
      {"DeepSeek-V3", 671},        {"gpt-oss-20b", 20.9},     {"gpt-oss-120b", 116.8},
      {"Mistral-Small-24B", 23.6}, {"SmolLM2-135M", 0.1345},
  };
  for (const Known& model : known) {
    CAPTURE(model.name);
    const auto shape = find_model(model.name);
    REQUIRE(shape.has_value());
    CHECK(shape->parameters() / 1e9 == doctest::Approx(model.billions).epsilon(0.01));
  }
}

TEST_CASE("every known model and GPU is valid and named once") {
  std::set<std::string> names;
  for (const ModelShape& model : known_models()) {
    CAPTURE(model.name);
    CHECK(validate(model).has_value());
    CHECK(names.insert(model.name).second);
    CHECK(find_model(model.name)->name == model.name);
  }
  for (const Gpu& gpu : known_gpus()) {
    CHECK(names.insert(std::string(gpu.name)).second);
    CHECK(find_gpu(gpu.name)->name == gpu.name);
  }
}

TEST_CASE("names are found without regard to case, publisher and endings") {
  CHECK(find_model("meta-llama/Llama-3.1-8B-Instruct")->name == "Llama-3.1-8B");
  CHECK(find_model("google/gemma-3-27b-it")->name == "gemma-3-27b");
  CHECK(find_model("Qwen/Qwen3-32B-FP8")->weights == Precision::kFp8);
  CHECK(find_model("mistralai/Mixtral-8x7B-Instruct-v0.1")->experts == 8);
  const auto none = find_model("qwen3-33b");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message.find("Qwen3-32B") != std::string::npos);
  CHECK_FALSE(find_gpu("h900").has_value());
  CHECK(find_gpu("H100-SXM")->name == "h100_sxm");
}

TEST_CASE("a config.json gives the shape that is known by name") {
  const auto shape = read_config_json(R"({"architectures": ["LlamaForCausalLM"],
      "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 131072,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "sliding_window": null, "vocab_size": 128256, "torch_dtype": "bfloat16"})",
                                      "config.json");
  REQUIRE(shape.has_value());
  const auto known = find_model("Llama-3.1-8B");
  CHECK(shape->parameters() == known->parameters());
  CHECK(shape->head_dim == 128);
  CHECK(shape->context_max == 131072);
}

TEST_CASE("a config.json of experts, latents and windows is understood") {
  const auto deepseek = read_config_json(
      R"({"hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
      "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
      "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
      "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
      "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280,
      "max_position_embeddings": 163840, "quantization_config": {"quant_method": "fp8"}})",
      "config.json");
  REQUIRE(deepseek.has_value());
  CHECK(deepseek->parameters() == find_model("DeepSeek-V3")->parameters());
  CHECK(deepseek->weight_bytes() == find_model("DeepSeek-V3")->weight_bytes());
  const auto gemma = read_config_json(
      R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152, "num_hidden_layers": 27},
      "text_config": {"hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 62,
      "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
      "sliding_window": 1024, "sliding_window_pattern": 6, "vocab_size": 262208}})",
      "config.json");
  REQUIRE(gemma.has_value());
  CHECK(gemma->window_layers == 52);
  CHECK(gemma->kv_heads == 16);
}

TEST_CASE("what is no shape is refused with the field") {
  const auto missing = read_config_json(R"({"hidden_size": 4096})", "config.json");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().message.find("layers") != std::string::npos);
  CHECK_FALSE(read_config_json("[]", "config.json").has_value());
  CHECK_FALSE(read_config_json("", "config.json").has_value());
}

// A GGUF header, piece by piece.
class Gguf {
 public:
  explicit Gguf(uint64_t pairs) {
    bytes_ = "GGUF";
    add<uint32_t>(3);
    add<uint64_t>(0);
    add<uint64_t>(pairs);
  }
  Gguf& number(std::string_view key, uint32_t value) {
    text(key);
    add<uint32_t>(4);
    add(value);
    return *this;
  }
  Gguf& word(std::string_view key, std::string_view value) {
    text(key);
    add<uint32_t>(8);
    text(value);
    return *this;
  }
  Gguf& words(std::string_view key, uint64_t count) {
    text(key);
    add<uint32_t>(9);
    add<uint32_t>(8);
    add(count);
    for (uint64_t i = 0; i < count; ++i) text("token");
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  void add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    add<uint64_t>(value.size());
    bytes_.append(value);
  }
  std::string bytes_;
};

Gguf sample_gguf() {
  Gguf file(9);
  file.word("general.architecture", "llama").number("llama.block_count", 30);
  file.number("llama.embedding_length", 576).number("llama.attention.head_count", 9);
  file.number("llama.attention.head_count_kv", 3).number("llama.feed_forward_length", 1536);
  file.number("llama.context_length", 8192).words("tokenizer.ggml.tokens", 500);
  file.number("llama.rope.dimension_count", 64);
  return file;
}

TEST_CASE("a GGUF header gives the shape, and the file's size that of the weights") {
  const auto shape = read_gguf(sample_gguf().bytes(), 120'000'000, "small.gguf");
  REQUIRE(shape.has_value());
  CHECK(shape->layers == 30);
  CHECK(shape->kv_heads == 3);
  CHECK(shape->head_dim == 64);
  CHECK(shape->vocab == 500);
  CHECK(shape->weight_bytes() == 120'000'000.0);
  CHECK(shape->weights == Precision::kFp8);
}

TEST_CASE("a GGUF header that is cut off anywhere is refused") {
  const std::string whole = sample_gguf().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(read_gguf(whole.substr(0, size), 1000, "cut.gguf").has_value());
  }
}

TEST_CASE("a length beyond the end of a GGUF header allocates nothing and is refused") {
  std::string bytes = sample_gguf().bytes();
  const uint64_t huge = UINT64_MAX;
  std::memcpy(bytes.data() + 24, &huge, sizeof huge);  // of the first key
  CHECK_FALSE(read_gguf(bytes, 1000, "huge.gguf").has_value());
}

}  // namespace
}  // namespace hw::gpu_model
