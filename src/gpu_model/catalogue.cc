#include "gpu_model/catalogue.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace hw::gpu_model {
namespace {

enum class Embeddings : bool { kApart, kTied };

struct Dense {
  std::string_view name;
  int layers, hidden, heads, kv_heads, head_dim, ffn, vocab, context_max;
  Embeddings embeddings = Embeddings::kApart;
  int window = 0, window_layers = 0;
};

constexpr auto kTied = Embeddings::kTied;
constexpr auto kApart = Embeddings::kApart;

constexpr Dense kDense[] = {
    {"Llama-2-7b", 32, 4096, 32, 32, 128, 11008, 32000, 4096},
    {"Llama-2-13b", 40, 5120, 40, 40, 128, 13824, 32000, 4096},
    {"Llama-2-70b", 80, 8192, 64, 8, 128, 28672, 32000, 4096},
    {"Meta-Llama-3-8B", 32, 4096, 32, 8, 128, 14336, 128256, 8192},
    {"Meta-Llama-3-70B", 80, 8192, 64, 8, 128, 28672, 128256, 8192},
    {"Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336, 128256, 131072},
    {"Llama-3.1-70B", 80, 8192, 64, 8, 128, 28672, 128256, 131072},
    {"Llama-3.1-405B", 126, 16384, 128, 8, 128, 53248, 128256, 131072},
    {"Llama-3.2-1B", 16, 2048, 32, 8, 64, 8192, 128256, 131072, kTied},
    {"Llama-3.2-3B", 28, 3072, 24, 8, 128, 8192, 128256, 131072, kTied},
    {"Llama-3.3-70B", 80, 8192, 64, 8, 128, 28672, 128256, 131072},
    {"Qwen2.5-0.5B", 24, 896, 14, 2, 64, 4864, 151936, 32768, kTied},
    {"Qwen2.5-1.5B", 28, 1536, 12, 2, 128, 8960, 151936, 32768, kTied},
    {"Qwen2.5-3B", 36, 2048, 16, 2, 128, 11008, 151936, 32768, kTied},
    {"Qwen2.5-7B", 28, 3584, 28, 4, 128, 18944, 152064, 32768},
    {"Qwen2.5-14B", 48, 5120, 40, 8, 128, 13824, 152064, 32768},
    {"Qwen2.5-32B", 64, 5120, 40, 8, 128, 27648, 152064, 32768},
    {"Qwen2.5-72B", 80, 8192, 64, 8, 128, 29568, 152064, 32768},
    {"Qwen3-0.6B", 28, 1024, 16, 8, 128, 3072, 151936, 40960, kTied},
    {"Qwen3-1.7B", 28, 2048, 16, 8, 128, 6144, 151936, 40960, kTied},
    {"Qwen3-4B", 36, 2560, 32, 8, 128, 9728, 151936, 40960, kTied},
    {"Qwen3-8B", 36, 4096, 32, 8, 128, 12288, 151936, 40960},
    {"Qwen3-14B", 40, 5120, 40, 8, 128, 17408, 151936, 40960},
    {"Qwen3-32B", 64, 5120, 64, 8, 128, 25600, 151936, 40960},
    {"Mistral-7B-v0.1", 32, 4096, 32, 8, 128, 14336, 32000, 32768, kApart, 4096, 32},
    {"Mistral-7B-v0.3", 32, 4096, 32, 8, 128, 14336, 32768, 32768},
    {"Mistral-Nemo-12B", 40, 5120, 32, 8, 128, 14336, 131072, 131072},
    {"Mistral-Small-24B", 40, 5120, 32, 8, 128, 32768, 131072, 32768},
    {"gemma-3-1b", 26, 1152, 4, 1, 256, 6912, 262144, 32768, kTied, 512, 22},
    {"gemma-3-4b", 34, 2560, 8, 4, 256, 10240, 262208, 131072, kTied, 1024, 29},
    {"gemma-3-12b", 48, 3840, 16, 8, 256, 15360, 262208, 131072, kTied, 1024, 40},
    {"gemma-3-27b", 62, 5376, 32, 16, 128, 21504, 262208, 131072, kTied, 1024, 52},
    {"SmolLM2-135M", 30, 576, 9, 3, 64, 1536, 49152, 8192, kTied},
};

ModelShape shape_of(const Dense& row) {
  ModelShape out;
  out.name = row.name;
  out.layers = row.layers;
  out.hidden = row.hidden;
  out.heads = row.heads;
  out.kv_heads = row.kv_heads;
  out.head_dim = out.value_dim = row.head_dim;
  out.ffn = row.ffn;
  out.vocab = row.vocab;
  out.context_max = row.context_max;
  out.tied_embeddings = row.embeddings == Embeddings::kTied;
  out.window = row.window;
  out.window_layers = row.window_layers;
  return out;
}

struct Experts {
  Dense base;
  int experts, active, expert_ffn;
};

constexpr Experts kWithExperts[] = {
    {{"Mixtral-8x7B", 32, 4096, 32, 8, 128, 14336, 32000, 32768}, 8, 2, 14336},
    {{"Mixtral-8x22B", 56, 6144, 48, 8, 128, 16384, 32768, 65536}, 8, 2, 16384},
    {{"Qwen3-30B-A3B", 48, 2048, 32, 4, 128, 6144, 151936, 40960}, 128, 8, 768},
    {{"Qwen3-235B-A22B", 94, 4096, 64, 4, 128, 12288, 151936, 40960}, 128, 8, 1536},
    {{"gpt-oss-20b", 24, 2880, 64, 8, 64, 2880, 201088, 131072, kApart, 128, 12}, 32, 4, 2880},
    {{"gpt-oss-120b", 36, 2880, 64, 8, 64, 2880, 201088, 131072, kApart, 128, 18}, 128, 4, 2880},
};

ModelShape shape_of(const Experts& row) {
  ModelShape out = shape_of(row.base);
  out.experts = row.experts;
  out.experts_active = row.active;
  out.expert_ffn = row.expert_ffn;
  if (out.name.starts_with("gpt-oss")) out.expert_weights = Precision::kFp4;
  return out;
}

ModelShape deepseek(std::string_view name) {
  ModelShape out = shape_of(Dense{name, 61, 7168, 128, 128, 192, 18432, 129280, 163840});
  out.value_dim = 128;
  out.experts = 256;
  out.experts_active = 8;
  out.expert_ffn = out.shared_ffn = 2048;
  out.dense_layers = 3;
  out.kv_lora_rank = 512;
  out.q_lora_rank = 1536;
  out.rope_dim = 64;
  out.nope_dim = 128;
  out.weights = out.expert_weights = Precision::kFp8;
  return out;
}

std::string lowered(std::string_view text) {
  std::string out;
  for (const char c : text) out += lower(c);
  return out;
}

// The name without publisher and endings; says on the way whether one was "-fp8".
std::string bare_name(std::string_view name, bool& fp8) {
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string out = lowered(name);
  fp8 = false;
  constexpr std::string_view kEndings[] = {"-instruct", "-it",   "-chat", "-hf",
                                           "-fp8",      "-v0.1", "-base"};
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view ending : kEndings) {
      if (!out.ends_with(ending) || out == "mistral-7b-v0.1") continue;
      fp8 = fp8 || ending == "-fp8";
      out.resize(out.size() - ending.size());
      cut = true;
    }
  }
  return out;
}

}  // namespace

const std::vector<ModelShape>& known_models() {
  static const std::vector<ModelShape> all = [] {
    std::vector<ModelShape> out;
    for (const Dense& row : kDense) out.push_back(shape_of(row));
    for (const Experts& row : kWithExperts) out.push_back(shape_of(row));
    out.push_back(deepseek("DeepSeek-V3"));
    out.push_back(deepseek("DeepSeek-R1"));
    return out;
  }();
  return all;
}

Result<ModelShape> find_model(std::string_view name) {
  bool fp8 = false;
  const std::string wanted = bare_name(name, fp8);
  std::string near;
  const std::string family = wanted.substr(0, std::min<size_t>(wanted.size(), 5));
  for (const ModelShape& model : known_models()) {
    const std::string known = lowered(model.name);
    if (known == wanted) {
      ModelShape out = model;
      if (fp8) out.hold_weights_as(Precision::kFp8);
      return out;
    }
    if (!family.empty() && known.starts_with(family))
      near += (near.empty() ? "" : ", ") + model.name;
  }
  return fail(ErrorCode::kConfig,
              near.empty() ? concat("no model is known as '", name, "'")
                           : concat("no model is known as '", name, "'; there are ", near));
}

}  // namespace hw::gpu_model
