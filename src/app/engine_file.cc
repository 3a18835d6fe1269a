#include "app/engine_file.h"

#include <filesystem>

#include <optional>

#include "base/text.h"

namespace hw::app {

using namespace config;
namespace {

// [model] as written: two names for one number.
struct WrittenModel {
  engine::ModelOptions options;
  std::optional<int> max_num_seqs;
};

Section server_section() {
  using O = engine::ServerOptions;
  using enum Applies;
  return make_section<O>(
      "server", SectionKind::kTable, {"The listening side.", "监听端。"},
      {
          row("host", text<O>(&O::host), "", kOnRestart, {"Address to listen on.", "监听地址。"},
              "Nothing is reachable from outside unless asked for."),
          row("port", integer<O>(&O::port, 0, 65'535), "", kOnRestart,
              {"Port; 0: any free one.", "端口；0 表示任一空闲端口。"}, "The port of vLLM."),
          row("max_concurrent_requests", integer<O>(&O::max_concurrent_requests, 1, 65'536), "",
              kOnRestart,
              {"Waiting and running requests together; above it: 429.",
               "等待与运行的请求总数；超出则 429。"},
              "A queue without end only turns overload into time-outs."),
          row("request_timeout_seconds", integer<O>(&O::request_timeout_seconds, 1, 86'400), "s",
              kOnRestart,
              {"From a request's arrival to its last token, waiting included.",
               "自请求到达到最后一个令牌，含等待。"},
              "Longer than any answer of a small model."),
          row("admin_token", secret<O>(&O::admin_token), "", kOnRestart,
              {"Bearer token of /admin; without: /admin is closed.",
               "/admin 的 Bearer 令牌；没有则 /admin 关闭。"},
              "Faults on purpose must be asked for.", "\"env:HEADWAY_ADMIN_TOKEN\""),
          row("request_log", text<O>(&O::request_log), "", kOnRestart,
              {"File for a JSON line about each request that is over: its times and what held it; "
               "`-`: standard error.",
               "每个结束的请求写一行 JSON 的文件：各时刻与等待原因；`-` 表示标准错误。"},
              "The gateway's own log has most of it.", "\"requests.jsonl\""),
          row("step_log", text<O>(&O::step_log), "", kOnRestart,
              {"Likewise for each step: its sequences and tokens, predicted and real time.",
               "每一步写一行：序列、令牌、预测与实际用时。"},
              "A hundred lines a second.", "\"steps.jsonl\""),
          row("faults", text<O>(&O::faults), "", kOnRestart,
              {"Faults on purpose from the start, as POST /admin/faults takes them.",
               "启动时即生效的故障注入，格式同 POST /admin/faults。"},
              "For drills only.", "\"{\\\"slow_step_factor\\\": 4}\""),
      });
}

// What is computed and how much at once.
std::vector<Option> model_work() {
  using W = WrittenModel;
  using enum Applies;
  using enum engine::BackendKind;
  using B = engine::BackendKind;
  constexpr int64_t kTokensMax = 1 << 20;
  return {
      row("model_id", text<W>([](W& w) -> auto& { return w.options.model_id; }), "", kOnRestart,
          {"The name that requests ask for; without: smollm2-135m, for gpu-model the shape's.",
           "请求所用的模型名称；省略则为 smollm2-135m，gpu-model 则为 shape 的名称。"},
          "A model that nobody named has the name of what it is.", "\"my-model\""),
      row("path", text<W>([](W& w) -> auto& { return w.options.path; }), "", kOnRestart,
          {"GGUF file; without: what scripts/get-model.sh put into the cache.",
           "GGUF 文件；省略则为 scripts/get-model.sh 放入缓存的模型。"},
          "One command then runs a real model.", "\"model.gguf\""),
      row("backend",
          choice<W, B>([](W& w) -> auto& { return w.options.backend; },
                       {{"llama", kLlama}, {"gpu-model", kGpuModel}}),
          "", kOnRestart,
          {"`llama`: real weights on the CPU; `gpu-model`: a calibrated model of a GPU.",
           "`llama`：CPU 上的真实权重；`gpu-model`：经校准的 GPU 模型。"},
          "Real answers come first."),
      row("kv_cache_ratio",
          number<W>([](W& w) -> auto& { return w.options.kv_cache_ratio; }, 0.01, 1.0), "",
          kOnRestart,
          {"Share of the memory left after the weights that the KV cache may take.",
           "权重之外的内存中，KV 缓存可占的比例。"},
          "The rest is for activations."),
      row("max_batch_size",
          integer<W>([](W& w) -> auto& { return w.options.max_batch_size; }, 1, 4096), "",
          kOnRestart,
          {"Sequences computed at once; the CPU backend takes 8 at most.",
           "同时计算的序列数；CPU 后端最多 8。"},
          "Beyond it a batch adds latency and no throughput on a small GPU."),
      row("max_num_seqs", integer<W>(&W::max_num_seqs, 1, 4096), "", kOnRestart,
          {"Another name of max_batch_size.", "max_batch_size 的另一个名称。"},
          "The name that vLLM uses."),
      row("batch_wait_ms",
          integer<W>([](W& w) -> auto& { return w.options.batch_wait_ms; }, 0, 10'000), "ms",
          kOnRestart,
          {"How long an idle instance waits for more requests before its first step; 0: not at "
           "all.",
           "空闲实例在第一步之前等待更多请求的时间；0 表示不等。"},
          "A burst then starts together."),
      row("max_tokens",
          integer<W>([](W& w) -> auto& { return w.options.max_tokens; }, 1, kTokensMax), "",
          kOnRestart,
          {"The most that a request may generate; a larger wish is cut to it.",
           "一个请求最多可生成的令牌数；更大的要求会被截到此值。"},
          "A runaway answer ends."),
  };
}

// How long a sequence may be.
std::vector<Option> model_lengths() {
  using W = WrittenModel;
  using enum Applies;
  using I = engine::InputTooLong;
  return {
      row("kv_blocks",
          integer<W>([](W& w) -> auto& { return w.options.kv_blocks; }, 0, int64_t{1} << 32), "",
          kOnRestart,
          {"Blocks of 16 tokens, one of which is never used; 0: by kv_cache_ratio.",
           "每块 16 个令牌，其中一块不使用；0 表示按 kv_cache_ratio。"},
          "An engine's own log knows it better than a formula."),
      row("max_model_len",
          integer<W>([](W& w) -> auto& { return w.options.max_model_len; }, 0, 1 << 24), "",
          kOnRestart,
          {"Prompt and answer together; 0: what the model was trained for.",
           "提示与回答合计；0 表示模型训练时的长度。"},
          "The model's own limit."),
      row("max_input_len",
          integer<W>([](W& w) -> auto& { return w.options.max_input_len; }, 0, 1 << 24), "",
          kOnRestart, {"Prompt; 0: max_model_len - 1.", "提示；0 表示 max_model_len - 1。"},
          "Room for one token of answer."),
      row("on_input_too_long",
          choice<W, I>([](W& w) -> auto& { return w.options.on_input_too_long; },
                       {{"reject", I::kReject}, {"truncate", I::kTruncate}}),
          "", kOnRestart,
          {"`reject`: 400; `truncate`: the last max_input_len tokens are kept.",
           "`reject`：400；`truncate`：保留最后 max_input_len 个令牌。"},
          "A prompt that was cut without a word gives wrong answers."),
      row("threads", integer<W>([](W& w) -> auto& { return w.options.threads; }, 0, 1024), "",
          kOnRestart,
          {"Compute threads; 0: one less than cores, at least one.",
           "计算线程；0 表示核数减一，至少一个。"},
          "HTTP must get its turn."),
  };
}

// What computes.
std::vector<Option> model_hardware() {
  using W = WrittenModel;
  using enum Applies;
  using L = engine::WorkerLoss;
  return {
      row("on_worker_loss",
          choice<W, L>([](W& w) -> auto& { return w.options.on_worker_loss; },
                       {{"error", L::kError}, {"recompute", L::kRecompute}}),
          "", kOnRestart,
          {"What becomes of a worker's requests when it dies.", "工作进程死亡时其请求如何处理。"},
          "An error is seen; a silent recompute doubles the wait."),
      row("gpu", text<W>([](W& w) -> auto& { return w.options.gpu; }), "", kOnRestart,
          {"The GPU that gpu-model stands for; without: H100.",
           "gpu-model 所代表的 GPU；省略则为 H100。"},
          "Only for gpu-model.", "\"H100\""),
      row("shape", text<W>([](W& w) -> auto& { return w.options.shape; }), "", kOnRestart,
          {"A model's name or the path of its config.json or GGUF, for gpu-model; without: "
           "llama-3.1-8b.",
           "模型名称或其 config.json 或 GGUF 的路径，用于 gpu-model；省略则为 llama-3.1-8b。"},
          "Only for gpu-model.", "\"llama-3.1-8b\""),
      row("tensor_parallel",
          integer<W>([](W& w) -> auto& { return w.options.tensor_parallel; }, 1, 64), "",
          kOnRestart,
          {"GPUs that share each layer, for gpu-model.", "共同承担每层的 GPU 数，用于 gpu-model。"},
          "Only for gpu-model."),
      row("speed", number<W>([](W& w) -> auto& { return w.options.speed; }, 0.01, 1000.0), "",
          kOnRestart,
          {"How many times faster than the GPU it stands for gpu-model runs.",
           "gpu-model 比所代表的 GPU 快多少倍。"},
          "Real time is what a client would see."),
      row("answer_tokens",
          integer<W>([](W& w) -> auto& { return w.options.answer_tokens; }, 0, 1 << 20), "",
          kOnRestart,
          {"Median length of gpu-model's answers, where the request sets no shorter limit; 0: all "
           "go on to their limit.",
           "gpu-model 回答长度的中位数（请求未设更短上限时）；0 表示都到上限为止。"},
          "Chats are about that long."),
  };
}

Section model_section() {
  using W = WrittenModel;
  return make_section<W>(
      "model", SectionKind::kTable,
      {"What is computed, and how much of it at once.", "计算什么，以及同时计算多少。"},
      joined({model_work(), model_lengths(), model_hardware()}));
}

Section scheduler_section() {
  using O = engine::SchedulerOptions;
  using enum Applies;
  using B = engine::BatchPolicy;
  using Q = engine::QueuePolicy;
  return make_section<O>(
      "scheduler", SectionKind::kTable, {"What the next step computes.", "下一步计算什么。"},
      {
          row("policy", choice<O, B>(&O::policy, {{"continuous_batching", B::kContinuousBatching}}),
              "", kOnRestart, {"How requests share steps.", "请求如何共享每一步。"},
              "Static batches make everyone wait for the longest."),
          row("queue_warn_ms", integer<O>(&O::queue_warn_ms, 0, 86'400'000), "ms", kOnRestart,
              {"A longer wait for the first step is logged; 0: none.",
               "等待第一步超过此时间会写日志；0 表示不写。"},
              "A queue is seen before it is felt."),
          row("enable_chunked_prefill", boolean<O>(&O::enable_chunked_prefill), "", kOnRestart,
              {"Off: a prompt is computed in one step; one above max_num_batched_tokens is "
               "refused.",
               "关闭时，提示必须一步算完；超过 max_num_batched_tokens 的会被拒绝。"},
              "A long prompt must not hold up those who decode."),
          row("max_num_batched_tokens", integer<O>(&O::max_num_batched_tokens, 0, 1 << 20), "",
              kOnRestart,
              {"Tokens computed in one step; 0: 64 on the CPU (at most 512 there), 8192 on "
               "gpu-model.",
               "一步计算的令牌数；0 表示 CPU 为 64（最多 512），gpu-model 为 8192。"},
              "A larger step on a CPU would hold everyone for seconds."),
          row("scheduler_policy",
              choice<O, Q>(&O::scheduler_policy, {{"fcfs", Q::kFcfs}, {"priority", Q::kPriority}}),
              "", kOnRestart,
              {"Who is next: by arrival, or by the request's `priority`, lower first.",
               "谁是下一个：按到达顺序，或按请求的 `priority`（小者优先）。"},
              "First come, first served is fair."),
          row("enable_prefix_caching", boolean<O>(&O::enable_prefix_caching), "", kOnRestart,
              {"Keep the KV of common prompt beginnings.", "保留相同提示开头的 KV。"},
              "Changes what is measured, so it is asked for."),
          row("long_prefill_token_threshold",
              integer<O>(&O::long_prefill_token_threshold, 0, 1 << 20), "", kOnRestart,
              {"The most that one prompt gets of a step; 0: all of it.",
               "一个提示在一步中最多可占的令牌数；0 表示全部。"},
              "The default of vLLM."),
          row("watermark", number<O>(&O::watermark, 0.0, 0.5), "", kOnRestart,
              {"Share of the KV cache kept free when one more is admitted.",
               "再接纳一个序列时 KV 缓存须保留的空闲比例。"},
              "The default of vLLM v1."),
          row("group_by_length", boolean<O>(&O::group_by_length), "", kOnRestart,
              {"Sequences run together only if their lengths are alike.",
               "只有长度相近的序列才会一起运行。"},
              "Helps only where padding costs."),
          row("group_by_length_factor", number<O>(&O::group_by_length_factor, 1.0, 1000.0), "",
              kOnRestart,
              {"How many times longer than another a sequence may be to run beside it, with "
               "group_by_length.",
               "启用 group_by_length 时，同批序列长度相差的最大倍数。"},
              "Twice as long costs half of a padded step."),
      });
}

// Two names of one number: the one from the stronger source holds; from one source they must agree.
void join_batch_sizes(SectionReader& reader, const SectionValues& values, WrittenModel& model) {
  if (!model.max_num_seqs.has_value()) return;
  int& size = model.options.max_batch_size;
  if (values.has("max_batch_size")) {
    const SourceKind ours = values.origins.find("max_num_seqs")->second.source;
    const SourceKind other = values.origins.find("max_batch_size")->second.source;
    if (ours < other) return;
    if (ours == other && *model.max_num_seqs != size) {
      reader.report(values.problem(
          "max_num_seqs", ProblemKind::kConflict,
          {"max_batch_size", std::to_string(size), std::to_string(*model.max_num_seqs)}));
    }
  }
  size = *model.max_num_seqs;
}

// A model that nobody named has the name of what it is.
void name_model(engine::ModelOptions& model) {
  if (!model.model_id.empty()) return;
  switch (model.backend) {
    case engine::BackendKind::kLlama:
      model.model_id = engine::kSmallModelId;
      return;
    case engine::BackendKind::kGpuModel: {
      const std::filesystem::path shape(model.shape);
      const bool file = shape.extension() == ".json" || shape.extension() == ".gguf";
      model.model_id = file ? shape.stem().string() : model.shape;
      if (model.model_id.empty()) model.model_id = engine::kDefaultShape;
      return;
    }
  }
}

constexpr FlagAlias kFlagAliases[] = {
    {"backend", "model.backend", "", {"Short for model.backend.", "model.backend 的简写。"}},
    {"gpu", "model.gpu", "", {"Short for model.gpu.", "model.gpu 的简写。"}},
    {"shape", "model.shape", "", {"Short for model.shape.", "model.shape 的简写。"}},
    {"log-requests",
     "server.request_log",
     "",
     {"Short for server.request_log.", "server.request_log 的简写。"}},
    {"log-steps",
     "server.step_log",
     "",
     {"Short for server.step_log.", "server.step_log 的简写。"}},
    {"speed", "model.speed", "", {"Short for model.speed.", "model.speed 的简写。"}},
    {"host",
     "server.host",
     "",
     {"As in vLLM and SGLang: server.host.", "同 vLLM 与 SGLang：server.host。"}},
    {"port",
     "server.port",
     "",
     {"As in vLLM and SGLang: server.port.", "同 vLLM 与 SGLang：server.port。"}},
    {"served-model-name",
     "model.model_id",
     "",
     {"As in vLLM and SGLang: model.model_id.", "同 vLLM 与 SGLang：model.model_id。"}},
    {"max-num-seqs",
     "model.max_num_seqs",
     "",
     {"As in vLLM: model.max_num_seqs.", "同 vLLM：model.max_num_seqs。"}},
    {"max-num-batched-tokens",
     "scheduler.max_num_batched_tokens",
     "",
     {"As in vLLM: scheduler.max_num_batched_tokens.",
      "同 vLLM：scheduler.max_num_batched_tokens。"}},
    {"max-model-len",
     "model.max_model_len",
     "",
     {"As in vLLM: model.max_model_len.", "同 vLLM：model.max_model_len。"}},
    {"gpu-memory-utilization",
     "model.kv_cache_ratio",
     "",
     {"As in vLLM: model.kv_cache_ratio.", "同 vLLM：model.kv_cache_ratio。"}},
    {"num-gpu-blocks-override",
     "model.kv_blocks",
     "",
     {"As in vLLM: model.kv_blocks.", "同 vLLM：model.kv_blocks。"}},
    {"enable-chunked-prefill",
     "scheduler.enable_chunked_prefill",
     "true",
     {"As in vLLM: scheduler.enable_chunked_prefill = true.",
      "同 vLLM：scheduler.enable_chunked_prefill = true。"}},
    {"no-enable-chunked-prefill",
     "scheduler.enable_chunked_prefill",
     "false",
     {"As in vLLM: scheduler.enable_chunked_prefill = false.",
      "同 vLLM：scheduler.enable_chunked_prefill = false。"}},
    {"enable-prefix-caching",
     "scheduler.enable_prefix_caching",
     "true",
     {"As in vLLM: scheduler.enable_prefix_caching = true.",
      "同 vLLM：scheduler.enable_prefix_caching = true。"}},
    {"no-enable-prefix-caching",
     "scheduler.enable_prefix_caching",
     "false",
     {"As in vLLM: scheduler.enable_prefix_caching = false.",
      "同 vLLM：scheduler.enable_prefix_caching = false。"}},
    {"long-prefill-token-threshold",
     "scheduler.long_prefill_token_threshold",
     "",
     {"As in vLLM: scheduler.long_prefill_token_threshold.",
      "同 vLLM：scheduler.long_prefill_token_threshold。"}},
    {"scheduling-policy",
     "scheduler.scheduler_policy",
     "",
     {"As in vLLM: scheduler.scheduler_policy.", "同 vLLM：scheduler.scheduler_policy。"}},
    {"tensor-parallel-size",
     "model.tensor_parallel",
     "",
     {"As in vLLM and SGLang: model.tensor_parallel.",
      "同 vLLM 与 SGLang：model.tensor_parallel。"}},
    {"max-running-requests",
     "model.max_num_seqs",
     "",
     {"As in SGLang: model.max_num_seqs.", "同 SGLang：model.max_num_seqs。"}},
    {"chunked-prefill-size",
     "scheduler.max_num_batched_tokens",
     "",
     {"As in SGLang: scheduler.max_num_batched_tokens.",
      "同 SGLang：scheduler.max_num_batched_tokens。"}},
    {"mem-fraction-static",
     "model.kv_cache_ratio",
     "",
     {"As in SGLang: model.kv_cache_ratio.", "同 SGLang：model.kv_cache_ratio。"}},
    {"context-length",
     "model.max_model_len",
     "",
     {"As in SGLang: model.max_model_len.", "同 SGLang：model.max_model_len。"}},
    {"schedule-policy",
     "scheduler.scheduler_policy",
     "",
     {"As in SGLang: scheduler.scheduler_policy.", "同 SGLang：scheduler.scheduler_policy。"}},
    {"disable-radix-cache",
     "scheduler.enable_prefix_caching",
     "false",
     {"As in SGLang: scheduler.enable_prefix_caching = false.",
      "同 SGLang：scheduler.enable_prefix_caching = false。"}},
};

}  // namespace

std::span<const FlagAlias> engine_flag_aliases() {
  return kFlagAliases;
}

const OptionTable& engine_options() {
  static const OptionTable table = {"engine.toml",
                                    {server_section(), model_section(), scheduler_section()}};
  return table;
}

ReadEngineFile read_engine_file(const ConfigSources& sources) {
  ReadEngineFile out;
  SectionReader reader(engine_options(), sources);
  reader.read("server", &out.config.server);
  WrittenModel model;
  const SectionValues values = reader.read("model", &model);
  join_batch_sizes(reader, values, model);
  out.config.model = std::move(model.options);
  name_model(out.config.model);
  reader.read("scheduler", &out.config.scheduler);
  for (const std::string& name : reader.stray_variables()) {
    out.notes.push_back(concat("the environment variable ", name, " is no option"));
  }
  out.problems = reader.take_problems();
  return out;
}

}  // namespace hw::app
