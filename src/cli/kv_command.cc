// `headway kv`: how much memory keys and values take, and what fits a GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/text.h"
#include "cli/commands.h"
#include "command/number_flags.h"
#include "gpu_model/catalogue.h"
#include "gpu_model/kv.h"
#include "gpu_model/shape_source.h"
#include "json/writer.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
using config::Words;
using gpu_model::KvLayout;
using gpu_model::KvOptions;
using gpu_model::KvPrecision;
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr int64_t kCountMax = 1'000'000'000;

bool parse_kv_precision(std::string_view name, KvPrecision& out) {
  for (const KvPrecision known : {KvPrecision::kBf16, KvPrecision::kFp8, KvPrecision::kFp8Latent}) {
    if (name == gpu_model::kv_precision_name(known)) {
      out = known;
      return true;
    }
  }
  return false;
}

// What is asked about one configuration of a model on a GPU, and what comes of it.
struct Fit {
  Words choice;
  KvOptions options;
  int64_t length = 0;
  KvLayout layout;
  gpu_model::MemoryShare memory;
  int64_t blocks = 0;
  double concurrency = 0;     // requests of `length`
  int64_t max_num_seqs = 0;   // of `length`
  int64_t longest_alone = 0;  // max_model_len that fits
};

class KvRun {
 public:
  explicit KvRun(const Arguments& arguments)
      : arguments_(arguments),
        language_(arguments.language),
        json_(arguments.has("json")),
        numbers_(arguments) {}

  Exit run() {
    if (!read_numbers()) return Exit::kUsage;
    return arguments_.has("model") ? of_model() : of_formula();
  }

 private:
  bool read_numbers() {
    int64_t tp = 1, block = 16, budget = 8192;
    const bool counts = numbers_.read("layers", 1, kCountMax, layers_) &&
                        numbers_.read("kv-heads", 1, kCountMax, kv_heads_) &&
                        numbers_.read("head-dim", 1, kCountMax, head_dim_) &&
                        numbers_.read("seq", 1, kCountMax, seq_) &&
                        numbers_.read("batch", 1, kCountMax, batch_) &&
                        numbers_.read("tensor-parallel", 1, 1024, tp) &&
                        numbers_.read("block-size", 1, 4096, block) &&
                        numbers_.read("max-num-batched-tokens", 1, 1 << 24, budget) &&
                        numbers_.read("max-num-seqs", 1, 65'536, max_num_seqs_) &&
                        numbers_.read("kv-blocks", 1, kCountMax, kv_blocks_);
    const bool reals = counts && numbers_.read("dtype-bytes", 0.1, 16, dtype_bytes_) &&
                       numbers_.read("gpu-memory-utilization", 0.01, 1, utilisation_) &&
                       numbers_.read("overhead-gib", 0, 1024, overhead_gib_);
    options_.tensor_parallel = static_cast<int>(tp);
    options_.block_tokens = static_cast<int>(block);
    options_.max_num_batched_tokens = static_cast<int>(budget);
    if (!reals) return false;
    if (!arguments_.has("kv-cache-dtype")) return true;
    return parse_kv_precision(arguments_.value("kv-cache-dtype"), options_.precision) ||
           numbers_.refuse("kv-cache-dtype", "bf16, fp8, fp8_ds_mla");
  }

  // The plain formula.
  Exit of_formula() {
    for (const std::string_view flag : {"layers", "kv-heads", "head-dim", "seq"}) {
      if (arguments_.has(flag)) continue;
      complain(Words{"needs --layers, --kv-heads, --head-dim and --seq, or --model",
                     "需要 --layers、--kv-heads、--head-dim 与 --seq，或 --model"}
                   .in(language_));
      return Exit::kUsage;
    }
    const double token =
        gpu_model::plain_kv_bytes(layers_, kv_heads_, head_dim_, 1, 1, dtype_bytes_);
    const double request = token * static_cast<double>(seq_);
    const double all = request * static_cast<double>(batch_);
    if (json_) {
      print_formula_json(token, request, all);
      return Exit::kFine;
    }
    const auto line = [&](const Words& what, double bytes) {
      return Row{std::string(what.in(language_)), concat(fixed(bytes, 0), " B"),
                 concat(fixed(bytes / 1e9, 2), " GB"), concat(fixed(bytes / kGib, 2), " GiB")};
    };
    print(concat("2 x ", layers_, " x ", kv_heads_, " x ", head_dim_, " x ", fixed(dtype_bytes_, 2),
                 " x ", seq_, " x ", batch_, "\n"));
    print(render_table({"", "", "", ""},
                       {line({"a token", "每个 token"}, token),
                        line({"a request", "每个请求"}, request), line({"all", "总计"}, all)},
                       Colour::kNone));
    return Exit::kFine;
  }

  void print_formula_json(double token, double request, double all) {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("bytes_per_token", token);
    writer.field("bytes_per_request", request);
    writer.field("bytes", all);
    writer.field("gb", all / 1e9);
    writer.field("gib", all / kGib);
    writer.end_object();
    print(out + "\n");
  }

  // A model, on a GPU where one is named.
  Exit of_model() {
    Result<gpu_model::ModelShape> shape = gpu_model::open_shape(arguments_.value("model"));
    if (!shape.has_value()) return refuse(shape.error());
    shape_ = *shape;
    if (arguments_.has("dtype")) {
      gpu_model::Precision precision{};
      if (!parse_precision(arguments_.value("dtype"), precision)) {
        numbers_.refuse("dtype", "bf16, fp8, fp4");
        return Exit::kUsage;
      }
      shape_.hold_weights_as(precision);
    }
    const Result<gpu_model::Gpu> gpu =
        gpu_model::find_gpu(arguments_.has("gpu") ? arguments_.value("gpu") : "h100_sxm");
    if (!gpu.has_value()) return refuse(gpu.error());
    gpu_ = *gpu;
    if (seq_ == 0) seq_ = shape_.context_max > 0 ? shape_.context_max : 8192;
    const Result<Fit> base = fit({"as asked", "按所给配置"}, options_, seq_);
    if (!base.has_value()) return refuse(base.error());
    const std::vector<Fit> others = choices(*base);
    json_ ? print_json(*base, others) : print_text(*base, others);
    return base->blocks > 0 && base->max_num_seqs > 0 ? Exit::kFine : Exit::kNo;
  }

  Exit refuse(const Error& error) {
    complain(error.message);
    return Exit::kUsage;
  }

  Result<Fit> fit(const Words& choice, const KvOptions& options, int64_t length) const {
    const Result<KvLayout> layout = gpu_model::kv_layout(shape_, options);
    if (!layout.has_value()) return fail(layout.error());
    Fit out;
    out.choice = choice;
    out.options = options;
    out.length = length;
    out.layout = *layout;
    const double overhead = overhead_gib_ > 0
                                ? overhead_gib_ * kGib
                                : overhead_bytes(shape_, options, static_cast<int>(max_num_seqs_));
    out.memory = share_memory(shape_, gpu_, options.tensor_parallel, utilisation_, overhead);
    out.blocks = kv_blocks_ > 0 ? kv_blocks_ : out.layout.blocks_in(out.memory.kv);
    out.concurrency = out.layout.concurrency(out.blocks, length);
    out.max_num_seqs = static_cast<int64_t>(out.concurrency);
    const int64_t limit = shape_.context_max > 0 ? shape_.context_max : kCountMax;
    out.longest_alone = out.layout.longest_request(out.blocks, 1, limit);
    return out;
  }

  // What each single change would buy; those that the model does not allow are left out.
  std::vector<Fit> choices(const Fit& base) const {
    std::vector<Fit> out;
    const auto try_it = [&](const Words& words, const KvOptions& options, int64_t length) {
      Result<Fit> other = fit(words, options, length);
      if (other.has_value()) out.push_back(std::move(*other));
    };
    if (kv_blocks_ == 0) {
      KvOptions changed = base.options;
      if (changed.precision == KvPrecision::kBf16) {
        changed.precision = KvPrecision::kFp8;
        try_it({"KV in FP8", "KV 用 FP8"}, changed, base.length);
      }
      changed = base.options;
      changed.tensor_parallel *= 2;
      try_it({"twice the GPUs (TP)", "GPU 数加倍（TP）"}, changed, base.length);
      if (base.layout.window_groups > 0) {
        changed = base.options;
        changed.max_num_batched_tokens = std::max(512, changed.max_num_batched_tokens / 4);
        try_it({"a quarter of the step's budget", "每步预算减为四分之一"}, changed, base.length);
      }
    }
    if (base.length > 1) try_it({"half the length", "长度减半"}, base.options, base.length / 2);
    return out;
  }

  void print_text(const Fit& base, const std::vector<Fit>& others) const {
    const auto gib = [](double bytes) { return concat(fixed(bytes / kGib, 2), " GiB"); };
    print(concat(shape_.name, ": ", fixed(shape_.parameters() / 1e9, 2), " B, ",
                 precision_name(shape_.weights), ", ", shape_.layers, " L, ", shape_.kv_heads,
                 " KV x ", shape_.head_dim, "; ", base.options.tensor_parallel, " x ", gpu_.name,
                 "\n\n"));
    const auto row = [&](const Words& what, std::string value) {
      return Row{std::string(what.in(language_)), std::move(value)};
    };
    const gpu_model::MemoryShare& memory = base.memory;
    std::vector<Row> rows = {
        row({"memory of a GPU, usable", "每张 GPU 显存，可用"},
            concat(gib(memory.visible), ", ", gib(memory.usable))),
        row({"weights", "权重"}, gib(memory.weights)),
        row({overhead_gib_ > 0 ? "overhead" : "overhead (estimated)",
             overhead_gib_ > 0 ? "开销" : "开销（估计）"},
            gib(memory.overhead)),
        row({"left for KV", "留给 KV"}, gib(memory.kv)),
        row({"KV of a token, on a GPU", "每 token 的 KV（每张 GPU）"},
            concat(fixed(base.layout.bytes_per_token(), 0), " B")),
        row({"blocks", "块数"}, std::to_string(base.blocks)),
    };
    print(render_table({"", ""}, rows, Colour::kNone));
    print("\n" + render_table(fit_header(), fit_rows(base, others), Colour::kNone));
    if (base.blocks <= 0 || base.max_num_seqs == 0) {
      print(std::string(Words{"\nThis does not fit.\n", "\n放不下。\n"}.in(language_)));
    }
  }

  Row fit_header() const {
    const auto in = [&](const Words& words) { return std::string(words.in(language_)); };
    return {"",
            in({"length", "长度"}),
            in({"KV of a request", "每请求 KV"}),
            in({"tokens", "token 总数"}),
            "max_num_seqs",
            "max_model_len"};
  }

  std::vector<Row> fit_rows(const Fit& base, const std::vector<Fit>& others) const {
    std::vector<Row> rows;
    const auto add = [&](const Fit& fit) {
      const double request = static_cast<double>(fit.layout.blocks_of_request(fit.length)) *
                             static_cast<double>(fit.layout.block_bytes());
      rows.push_back({std::string(fit.choice.in(language_)), std::to_string(fit.length),
                      concat(fixed(request / kGib, 2), " GiB"),
                      fixed(fit.concurrency * static_cast<double>(fit.length), 0),
                      std::to_string(fit.max_num_seqs), std::to_string(fit.longest_alone)});
    };
    add(base);
    for (const Fit& other : others) add(other);
    return rows;
  }

  void write_fit(json::Writer& writer, const Fit& fit) const {
    writer.begin_object();
    writer.field("choice", fit.choice.en);
    writer.field("tensor_parallel", fit.options.tensor_parallel);
    writer.field("kv_cache_dtype", kv_precision_name(fit.options.precision));
    writer.field("max_num_batched_tokens", fit.options.max_num_batched_tokens);
    writer.field("length", fit.length);
    writer.field("weights_bytes", fit.memory.weights);
    writer.field("overhead_bytes", fit.memory.overhead);
    writer.field("kv_bytes", fit.memory.kv);
    writer.field("bytes_per_token", fit.layout.bytes_per_token());
    writer.field("blocks", fit.blocks);
    writer.field("blocks_per_request", fit.layout.blocks_of_request(fit.length));
    writer.field("tokens", fit.concurrency * static_cast<double>(fit.length));
    writer.field("concurrency", fit.concurrency);
    writer.field("max_num_seqs", fit.max_num_seqs);
    writer.field("max_model_len", fit.longest_alone);
    writer.end_object();
  }

  void print_json(const Fit& base, const std::vector<Fit>& others) const {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("model", shape_.name);
    writer.field("parameters", shape_.parameters());
    writer.field("gpu", gpu_.name);
    writer.field("fits", base.blocks > 0 && base.max_num_seqs > 0);
    writer.key("asked");
    write_fit(writer, base);
    writer.key("choices");
    writer.begin_array();
    for (const Fit& other : others) write_fit(writer, other);
    writer.end_array();
    writer.end_object();
    print(out + "\n");
  }

  const Arguments& arguments_;
  const config::Language language_;
  const bool json_;
  const NumberFlags numbers_;
  int64_t layers_ = 0, kv_heads_ = 0, head_dim_ = 0, seq_ = 0, batch_ = 1;
  double dtype_bytes_ = 2;
  double utilisation_ = 0.92;  // vLLM's default
  double overhead_gib_ = 0;    // 0: estimated
  int64_t max_num_seqs_ = 256;
  int64_t kv_blocks_ = 0;  // 0: computed
  KvOptions options_;
  gpu_model::ModelShape shape_;
  gpu_model::Gpu gpu_;
};

std::vector<Flag> flags() {
  return {
      {"layers", "N", {"Layers.", "层数。"}},
      {"kv-heads", "N", {"KV heads.", "KV 头数。"}},
      {"head-dim", "N", {"Numbers of a head.", "每个头的维数。"}},
      {"seq",
       "TOKENS",
       {"Length of a request; with --model its longest.",
        "请求长度；与 --model 同用时省略则取模型最大长度。"}},
      {"batch", "N", {"Requests (1).", "请求数（1）。"}},
      {"dtype-bytes", "BYTES", {"Bytes of a number (2).", "每个数的字节数（2）。"}},
      {"model",
       "MODEL",
       {"A config.json, a GGUF file, or a name like Llama-3.1-8B.",
        "config.json、GGUF 文件，或名称，如 Llama-3.1-8B。"}},
      {"gpu", "GPU", {"The GPU (H100).", "GPU（H100）。"}},
      {"tensor-parallel", "N", {"GPUs that share the model (1).", "张量并行的 GPU 数（1）。"}},
      {"dtype",
       "TYPE",
       {"How weights are held; otherwise as published.", "权重精度；省略则按发布时的精度。"},
       "",
       "bf16|fp8|fp4"},
      {"kv-cache-dtype",
       "TYPE",
       {"How keys and values are held (bf16).", "KV 精度（bf16）。"},
       "",
       "bf16|fp8|fp8_ds_mla"},
      {"gpu-memory-utilization",
       "SHARE",
       {"Share of the memory to use (0.92).", "使用显存的比例（0.92）。"}},
      {"overhead-gib",
       "GIB",
       {"Memory beside weights and KV; otherwise estimated.",
        "权重与 KV 之外的显存；省略则估计。"}},
      {"kv-blocks",
       "N",
       {"Blocks, as the engine's log says; otherwise computed.",
        "块数，以引擎日志为准；省略则计算。"}},
      {"block-size", "TOKENS", {"Tokens of a block (16).", "每块的 token 数（16）。"}},
      {"max-num-batched-tokens", "N", {"Tokens of a step (8192).", "每步 token 上限（8192）。"}},
      {"max-num-seqs",
       "N",
       {"Sequences of a step, for the estimate (256).", "每步序列上限，用于估计（256）。"}},
      json_flag(),
  };
}

}  // namespace

Command kv_command() {
  Command out;
  out.name = "kv";
  out.summary = {
      "Says how much memory keys and values take and what fits a GPU: blocks, tokens, the most "
      "concurrent requests, the longest one, and what FP8, more GPUs or shorter requests buy.",
      "计算 KV 缓存占用以及 GPU 能容纳多少：块数、token 数、最大并发、最大长度，以及 FP8、更多 "
      "GPU、"
      "更短请求各能换来什么。"};
  out.flags = flags();
  out.examples = {
      "headway kv --layers 32 --kv-heads 32 --head-dim 128 --seq 4096 --batch 64 --dtype-bytes 2",
      "headway kv --model Llama-3.1-8B --gpu H100",
      "headway kv --model config.json --gpu H200 --tensor-parallel 8 --kv-cache-dtype fp8 --json"};
  out.run = [](const Arguments& arguments) { return KvRun(arguments).run(); };
  return out;
}

}  // namespace hw::cli
