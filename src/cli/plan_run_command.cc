// `headway plan run`: what instances on a GPU would answer under a load, and what a change does.
#include <unistd.h>

#include <functional>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/plan_scenario.h"
#include "command/number_flags.h"
#include "json/writer.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
using config::Words;
using planner::Advice;
using planner::Cause;
using planner::Difference;
using planner::Figures;
using planner::Spread;
namespace {

constexpr Nanos kProgressEvery = kSecond;

// One column of the table: the load as asked, or with one thing changed.
struct Case {
  std::string name;
  PlanResult result;
};

std::string percent(double relative) {
  const double value = relative * 100;
  const int decimals = value > -10 && value < 10 ? 1 : 0;
  return concat(value < 0 ? "−" : "+", fixed(value < 0 ? -value : value, decimals), " %");
}

std::string ms(double value) {
  return fixed(value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

// How figures are shown, and named in JSON.
struct FigureRow {
  Words name;
  std::string (*text)(const Figures&);
};
constexpr FigureRow kRows[] = {
    {{"requests/s", "请求/秒"}, [](const Figures& f) { return fixed(f.requests_per_s, 2); }},
    {{"output tokens/s", "输出令牌/秒"},
     [](const Figures& f) { return fixed(f.output_tokens_per_s, 0); }},
    {{"TTFT P50 ms", "TTFT P50 ms"}, [](const Figures& f) { return ms(f.ttft.p50); }},
    {{"TTFT P99 ms", "TTFT P99 ms"}, [](const Figures& f) { return ms(f.ttft.p99); }},
    {{"  of it queue, mean ms", "  其中排队均值 ms"},
     [](const Figures& f) { return ms(f.queue.mean); }},
    {{"TBT P50 ms", "TBT P50 ms"}, [](const Figures& f) { return ms(f.tbt.p50); }},
    {{"TBT P99 ms", "TBT P99 ms"}, [](const Figures& f) { return ms(f.tbt.p99); }},
    {{"TPOT P50 ms", "TPOT P50 ms"}, [](const Figures& f) { return ms(f.tpot.p50); }},
    {{"TPOT P95 ms", "TPOT P95 ms"}, [](const Figures& f) { return ms(f.tpot.p95); }},
    {{"E2E P50 ms", "E2E P50 ms"}, [](const Figures& f) { return ms(f.e2e.p50); }},
    {{"E2E P95 ms", "E2E P95 ms"}, [](const Figures& f) { return ms(f.e2e.p95); }},
    {{"busy %", "忙碌 %"}, [](const Figures& f) { return fixed(f.busy_share * 100, 0); }},
    {{"sequences decoding a step", "每步解码序列数"},
     [](const Figures& f) { return fixed(f.decodes_per_step, 1); }},
    {{"longest step ms", "最长一步 ms"}, [](const Figures& f) { return ms(f.longest_step_ms); }},
    {{"KV cache, most %", "KV 缓存峰值 %"},
     [](const Figures& f) { return fixed(f.kv_most * 100, 0); }},
    {{"preemptions", "抢占次数"}, [](const Figures& f) { return std::to_string(f.preemptions); }},
    {{"refused", "被拒绝"}, [](const Figures& f) { return std::to_string(f.refused); }},
};

std::string_view cause_name(Cause cause) {
  switch (cause) {
    case Cause::kNothing:
      return "nothing";
    case Cause::kQueue:
      return "queue";
    case Cause::kPreemption:
      return "preemption";
    case Cause::kPrefill:
      return "prefill";
    case Cause::kStepLength:
      return "step_length";
    case Cause::kMixing:
      return "mixing";
    case Cause::kBatch:
      return "batch";
  }
  return "nothing";
}

std::string_view advice_name(Advice advice) {
  switch (advice) {
    case Advice::kHelps:
      return "helps";
    case Advice::kLittle:
      return "little";
    case Advice::kDoesNot:
      return "does_not";
  }
  return "does_not";
}

// `headway plan run`.
class PlanRun {
 public:
  explicit PlanRun(const Arguments& arguments)
      : arguments_(arguments), language_(arguments.language), json_(arguments.has("json")) {}

  Exit run() {
    std::optional<PlanScenario> asked = PlanScenario::read(arguments_);
    if (!asked.has_value() || !read_goals()) return Exit::kUsage;
    scenario_ = std::move(*asked);
    if (!add(in({"as asked", "原样"}), scenario_)) return Exit::kUsage;
    if (arguments_.has("replicas") && !add_replica()) return Exit::kUsage;
    for (const std::string& change : changes()) {
      if (!add_change(change)) return Exit::kUsage;
    }
    json_ ? print_json() : print_text();
    return Exit::kFine;
  }

 private:
  std::string in(const Words& words) const { return std::string(words.in(language_)); }

  // vLLM's syntax: "ttft:500 tpot:50 e2el:10000".
  bool read_goals() {
    const NumberFlags numbers(arguments_);
    std::string_view text_left = goal_text_ = arguments_.value("goodput");
    for (char& c : goal_text_) c = c == '\n' ? ' ' : c;
    text_left = goal_text_;
    while (!text_left.empty()) {
      const size_t end = std::min(text_left.find(' '), text_left.size());
      const std::string_view one = text_left.substr(0, end);
      text_left.remove_prefix(std::min(end + 1, text_left.size()));
      if (!one.empty() && !read_goal(one)) {
        return numbers.refuse("goodput", "ttft:MS tpot:MS e2el:MS");
      }
    }
    return true;
  }

  bool read_goal(std::string_view text) {
    const size_t colon = text.find(':');
    int64_t value = 0;
    if (colon == std::string_view::npos || !parse_number(text.substr(colon + 1), value)) {
      return false;
    }
    const std::string_view name = text.substr(0, colon);
    std::optional<double>* goal = name == "ttft"   ? &goals_.ttft_ms
                                  : name == "tpot" ? &goals_.tpot_ms
                                  : name == "e2el" ? &goals_.e2e_ms
                                                   : nullptr;
    if (goal == nullptr || value < 1) return false;
    *goal = static_cast<double>(value);
    return true;
  }

  std::vector<std::string> changes() const {
    std::vector<std::string> out;
    std::string_view left = text_of_changes_;
    while (!left.empty()) {
      const size_t end = std::min(left.find('\n'), left.size());
      out.emplace_back(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    return out;
  }

  bool add_change(const std::string& change) {
    const size_t equals = change.find('=');
    PlanScenario scenario = scenario_;
    const Status changed =
        equals == std::string::npos
            ? Status(fail(ErrorCode::kConfig, "expected KEY=VALUE"))
            : scenario.change(change.substr(0, equals), change.substr(equals + 1));
    if (changed.has_value()) return add(change, scenario);
    complain(concat("--what-if ", change, ": ", changed.error().message));
    return false;
  }

  bool add_replica() {
    PlanScenario scenario = scenario_;
    ++scenario.replicas;
    has_replica_ = true;
    return add(concat("replicas=", scenario.replicas), scenario);
  }

  bool add(const std::string& name, const PlanScenario& scenario) {
    Nanos told = monotonic_ns();
    const bool tells = !json_ && ::isatty(STDERR_FILENO) == 1;
    Result<PlanResult> result = simulate(scenario, goals_, [&](int64_t ended, int64_t all) {
      if (!tells || monotonic_ns() - told < kProgressEvery) return;
      told = monotonic_ns();
      note(concat(name, ": ", ended, "/", all, in({" answered", " 已完成"})));
    });
    if (!result.has_value()) {
      complain(concat(cases_.empty() ? "" : name + ": ", result.error().message));
      return false;
    }
    cases_.push_back({name, std::move(*result)});
    return true;
  }

  void print_text() const {
    const virtual_gpu::Machine& machine = cases_[0].result.machine;
    const scheduler::Options& options = machine.limits.scheduling;
    print(concat(
        machine.shape.name, ", ", machine.gpu.name, " x", machine.cost_options.tensor_parallel,
        ", ", options.kv_blocks, in({" blocks, ", " 块，"}), options.max_num_seqs,
        in({" sequences, ", " 个序列，"}), options.max_num_batched_tokens,
        in({" tokens a step", " 令牌/步"}), "\n", scenario_.description(language_), "\n\n"));
    Row head = {""};
    for (const Case& one : cases_) head.push_back(one.name);
    std::vector<Row> rows;
    for (const FigureRow& row : kRows) {
      rows.push_back({in(row.name)});
      for (const Case& one : cases_) rows.back().push_back(row.text(one.result.figures));
    }
    if (goals_.any()) {
      rows.push_back({in({"goodput %", "达标率 %"})});
      for (const Case& one : cases_) {
        rows.back().push_back(fixed(one.result.figures.good_share * 100, 1));
      }
    }
    print(render_table(head, rows, colour_of_output(arguments_.environment)));
    for (size_t i = 1; i < cases_.size(); ++i) print("\n" + sentence(cases_[i], i == 1) + "\n");
  }

  // What the change did, and why.
  std::string sentence(const Case& other, bool first) const {
    const Figures& before = cases_[0].result.figures;
    const Figures& after = other.result.figures;
    const Difference difference = planner::difference_of(before, after);
    std::string out = concat(other.name, ": TTFT P99 ", percent(difference.ttft_p99), ", TBT P99 ",
                             percent(difference.tbt_p99), in({", tokens/s ", "，令牌/秒 "}),
                             percent(difference.throughput), in({".", "。"}));
    const std::string ttft = cause_words(difference.ttft_cause, before, after);
    const std::string tbt = cause_words(difference.tbt_cause, before, after);
    if (difference.ttft_cause == Cause::kNothing && difference.tbt_cause == Cause::kNothing) {
      out += in({" This load does not come near that limit.", "此负载远未触及该限制。"});
    }
    if (!ttft.empty()) out += concat(in({" TTFT: ", " TTFT："}), ttft);
    if (!tbt.empty()) out += concat(in({" TBT: ", " TBT："}), tbt);
    if (has_replica_ && first) out += "\n" + advice_words(before, after);
    return out;
  }

  std::string cause_words(Cause cause, const Figures& before, const Figures& after) const {
    const auto from_to = [](double a, double b, auto text) {
      return concat(text(a), " → ", text(b));
    };
    const auto one = [](double value) { return fixed(value, 1); };
    switch (cause) {
      case Cause::kNothing:
        return {};
      case Cause::kQueue: {
        const Figures& worse = before.queue.mean > after.queue.mean ? before : after;
        return concat(in({"requests wait ", "首步之前的等待 "}),
                      from_to(before.queue.mean, after.queue.mean, ms),
                      in({" ms for their first step; held by ", " ms；受限于 "}),
                      scheduler::hold_name(worse.held_by), in({".", "。"}));
      }
      case Cause::kPreemption:
        return concat(in({"preemptions ", "抢占次数 "}), before.preemptions, " → ",
                      after.preemptions,
                      in({": sequences lose their blocks and are computed again.",
                          "：序列失去其块后要重新计算。"}));
      case Cause::kPrefill:
        return concat(
            in({"a prompt takes ", "提示从第一步到首令牌 "}),
            from_to(before.ttft.mean - before.queue.mean, after.ttft.mean - after.queue.mean, ms),
            in({" ms from its first step to its token.", " ms。"}));
      case Cause::kStepLength:
        return concat(in({"the longest step that answers wait for goes ", "回答须等待的最长一步 "}),
                      from_to(before.longest_step_ms, after.longest_step_ms, ms),
                      in({" ms.", " ms。"}));
      case Cause::kMixing:
        return concat(
            in({"steps that compute prompts beside answers go ", "同时计算提示的步占比 "}),
            from_to(before.mixed_share * 100, after.mixed_share * 100, one), in({" %.", " %。"}));
      case Cause::kBatch:
        return concat(in({"sequences that share a step go ", "同一步中的序列数 "}),
                      from_to(before.decodes_per_step, after.decodes_per_step, one),
                      in({".", "。"}));
    }
    return {};
  }

  std::string advice_words(const Figures& now, const Figures& more) const {
    const double queue_share = now.ttft.mean > 0 ? now.queue.mean / now.ttft.mean : 0;
    const std::string evidence =
        concat(in({"queue is ", "排队占 TTFT 的 "}), fixed(queue_share * 100, 0),
               in({" % of TTFT, ", " %，"}), in({"instances are busy ", "实例忙碌 "}),
               fixed(now.busy_share * 100, 0), in({" % of the time", " %"}));
    switch (planner::advise(now, more, goals_)) {
      case Advice::kHelps:
        return concat(in({"Another instance helps: ", "增加一个实例有用："}), evidence,
                      in({".", "。"}));
      case Advice::kLittle:
        return concat(in({"Another instance changes little: ", "增加一个实例作用不大："}), evidence,
                      in({".", "。"}));
      case Advice::kDoesNot:
        return concat(in({"Another instance does not help: ", "增加一个实例没有用："}), evidence,
                      in({"; the time is in the steps themselves.", "；时间花在每一步本身。"}));
    }
    return {};
  }

  void print_json() const {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    const virtual_gpu::Machine& machine = cases_[0].result.machine;
    writer.field("model", machine.shape.name);
    writer.field("gpu", machine.gpu.name);
    writer.field("tensor_parallel", machine.cost_options.tensor_parallel);
    writer.field("kv_blocks", machine.limits.scheduling.kv_blocks);
    writer.field("load", scenario_.description(config::Language::kEnglish));
    writer.key("cases");
    writer.begin_array();
    for (const Case& one : cases_) write_case(writer, one);
    writer.end_array();
    if (has_replica_) {
      writer.field(
          "another_instance",
          advice_name(planner::advise(cases_[0].result.figures, cases_[1].result.figures, goals_)));
    }
    writer.end_object();
    print(out + "\n");
  }

  void write_case(json::Writer& writer, const Case& one) const {
    const Figures& f = one.result.figures;
    writer.begin_object();
    writer.field("case", &one == cases_.data() ? std::string("as_asked") : one.name);
    writer.field("completed", f.requests);
    writer.field("refused", f.refused);
    writer.field("duration_s", f.span_s);
    writer.field("request_throughput", f.requests_per_s);
    writer.field("output_throughput", f.output_tokens_per_s);
    writer.field("goodput_share", f.good_share);
    write_spread(writer, "ttft_ms", f.ttft);
    write_spread(writer, "tbt_ms", f.tbt);
    write_spread(writer, "tpot_ms", f.tpot);
    write_spread(writer, "e2e_ms", f.e2e);
    write_spread(writer, "queue_ms", f.queue);
    writer.field("steps", f.steps);
    writer.field("tokens_per_step", f.tokens_per_step);
    writer.field("decodes_per_step", f.decodes_per_step);
    writer.field("longest_step_ms", f.longest_step_ms);
    writer.field("busy_share", f.busy_share);
    writer.field("kv_most_share", f.kv_most);
    writer.field("preemptions", f.preemptions);
    writer.field("cached_share", f.cached_share);
    writer.field("held_by", scheduler::hold_name(f.held_by));
    writer.field("held_share", f.held_share);
    if (&one != cases_.data()) write_difference(writer, one);
    writer.end_object();
  }

  static void write_spread(json::Writer& writer, std::string_view name, const Spread& spread) {
    writer.key(name);
    writer.begin_object();
    writer.field("mean", spread.mean);
    writer.field("p50", spread.p50);
    writer.field("p95", spread.p95);
    writer.field("p99", spread.p99);
    writer.end_object();
  }

  void write_difference(json::Writer& writer, const Case& one) const {
    const Difference d = planner::difference_of(cases_[0].result.figures, one.result.figures);
    writer.key("change");
    writer.begin_object();
    writer.field("ttft_p99", d.ttft_p99);
    writer.field("tbt_p99", d.tbt_p99);
    writer.field("tpot_p50", d.tpot_p50);
    writer.field("e2e_p95", d.e2e_p95);
    writer.field("output_throughput", d.throughput);
    writer.field("ttft_cause", cause_name(d.ttft_cause));
    writer.field("tbt_cause", cause_name(d.tbt_cause));
    writer.end_object();
  }

  const Arguments& arguments_;
  const config::Language language_;
  const bool json_;
  const std::string text_of_changes_ = arguments_.value("what-if");
  PlanScenario scenario_;
  planner::Goals goals_;
  std::string goal_text_;
  std::vector<Case> cases_;  // the first: as asked
  bool has_replica_ = false;
};

std::vector<Flag> flags() {
  return {
      {"config",
       "FILE",
       {"The instance's engine.toml; without: every option at its default.",
        "实例的 engine.toml；省略则全部取默认值。"}},
      {"model",
       "NAME",
       {"A model's name, or the path of its config.json or GGUF (llama-3.1-8b).",
        "模型名称，或其 config.json 或 GGUF 的路径（llama-3.1-8b）。"}},
      {"gpu", "NAME", {"The GPU (H100).", "GPU（H100）。"}},
      {"tensor-parallel", "N", {"GPUs that share each layer (1).", "共同承担每层的 GPU 数（1）。"}},
      {"rate",
       "R",
       {"Requests a second, whether or not others were answered: an open loop.",
        "每秒请求数，不等待其他回答：开环。"}},
      {"arrival",
       "LAW",
       {"How gaps are distributed, with --rate (poisson).", "--rate 时到达间隔的分布（poisson）。"},
       "",
       "poisson|gamma|constant"},
      {"burstiness",
       "SHAPE",
       {"Of gamma gaps, as in vLLM: below 1 bursts, 1 is poisson.",
        "gamma 间隔的形状参数，同 vLLM：小于 1 为突发，1 为泊松。"}},
      {"concurrency",
       "N",
       {"Without --rate: clients that each wait for their answer (16).",
        "没有 --rate 时：各自等待回答的客户端数（16）。"}},
      {"requests", "N", {"Requests in all (1000).", "请求总数（1000）。"}},
      {"isl",
       "LENGTH",
       {"Tokens of a prompt: 1024, 512..2048, lognormal:800,0.9, exponential:300 (1024).",
        "提示令牌数：1024、512..2048、lognormal:800,0.9、exponential:300（1024）。"}},
      {"osl", "LENGTH", {"Tokens of an answer, likewise (256).", "回答令牌数，写法相同（256）。"}},
      {"trace",
       "FILE",
       {"Replays a trace instead: Mooncake, Azure or BurstGPT.",
        "改为重放 trace：Mooncake、Azure 或 BurstGPT。"}},
      {"trace-speed", "X", {"Times faster than it was (1).", "加速倍数（1）。"}},
      {"seed", "N", {"Same seed, same result (1).", "种子相同则结果相同（1）。"}},
      {"replicas",
       "N",
       {"Instances, each job to the least loaded; also tells whether one more would help (1).",
        "实例数，请求发往最闲者；并说明再加一个是否有用（1）。"}},
      {"what-if",
       "KEY=VALUE...",
       {"The same load with one option of engine.toml changed, or replicas, rate, concurrency, "
        "isl, "
        "osl; several give several columns.",
        "同一负载，改变 engine.toml 的一个选项，或 replicas、rate、concurrency、isl、osl；可给出"
        "多个，各占一列。"}},
      {"goodput",
       "GOAL...",
       {"What counts as good, as in vLLM: ttft:500 tpot:50 e2el:10000.",
        "达标条件，同 vLLM：ttft:500 tpot:50 e2el:10000。"}},
      json_flag(),
  };
}

}  // namespace

Command plan_run_command() {
  Command out;
  out.name = "plan run";
  out.summary = {
      "Simulates instances on a GPU under a load: the real scheduler under a virtual clock, its "
      "steps priced by the cost model (docs/engine.md). Time-outs are not simulated.",
      "模拟 GPU "
      "上的实例承受负载：真实的调度器、虚拟时钟，每步用时由成本模型给出（docs/engine.md）。"
      "不模拟超时。"};
  out.flags = flags();
  out.examples = {"headway plan run --model llama-3.1-8b --gpu H100 --rate 8 --isl 2048",
                  "headway plan run --rate 6 --isl 512..8192 --what-if max_num_batched_tokens=2048",
                  "headway plan run --rate 30 --replicas 1 --goodput ttft:500 tpot:50",
                  "headway plan run --trace conversation_trace.jsonl --trace-speed 2 --json"};
  out.options = {&app::engine_options()};
  out.run = [](const Arguments& arguments) { return PlanRun(arguments).run(); };
  return out;
}

}  // namespace hw::cli
