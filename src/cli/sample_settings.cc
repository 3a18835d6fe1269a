#include "cli/sample_settings.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/data_dir.h"
#include "base/text.h"
#include "cli/commands.h"
#include "command/run_folders.h"
#include "config/document.h"
#include "probe/base_url.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "verify/report.h"
#include "verify/triple.h"
#include "verify/watch.h"

namespace hw::cli {

using namespace terminal;
namespace {

constexpr std::string_view kDefaultData = "data";
constexpr size_t kKeyFileBytesMax = 4096;
constexpr double kSecondsMax = 7 * 86'400, kRateMax = 1e6, kCanaryRateMax = 100;
constexpr int64_t kRequestsMax = 5'000'000, kConcurrencyMax = 100'000, kTokensMax = 1'000'000;
constexpr int64_t kRunsMax = 1000;

std::optional<Dialect> read_dialect(std::string_view name) {
  for (const auto& [word, dialect] :
       {std::pair{"chat", Dialect::kOpenaiChat}, std::pair{"responses", Dialect::kOpenaiResponses},
        std::pair{"messages", Dialect::kAnthropicMessages},
        std::pair{"completions", Dialect::kOpenaiCompletions}}) {
    if (name == word || name == dialect_name(dialect)) return dialect;
  }
  return std::nullopt;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

// Reads flag by flag; remembers the first that is wrong.
class Reader {
 public:
  Reader(const Arguments& arguments, SampleSettings& out) : arguments_(arguments), out_(out) {}

  Exit read() {
    read_load();
    read_limits();
    read_request();
    if (exit_ == Exit::kFine) read_place();
    if (exit_ == Exit::kFine) compose_command();
    return exit_;
  }

 private:
  void bad(std::string_view flag, std::string_view expected) {
    if (exit_ != Exit::kFine) return;
    complain(say(arguments_.language, Text::kBadFlagValue,
                 {concat("--", flag), std::string(expected), arguments_.value(flag)}));
    exit_ = Exit::kUsage;
  }

  template <class T>
  void whole(std::string_view flag, int64_t min, int64_t max, T& out) {
    if (!arguments_.has(flag)) return;
    int64_t value = 0;
    if (!parse_number(arguments_.value(flag), value) || value < min || value > max) {
      return bad(flag, concat(min, "..", max));
    }
    out = static_cast<T>(value);
  }

  std::optional<double> real(std::string_view flag, double max) {
    if (!arguments_.has(flag)) return std::nullopt;
    const std::string text = arguments_.value(flag);
    double value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = end.ec == std::errc() && end.ptr == text.data() + text.size();
    if (!read || !std::isfinite(value) || value < 0 || value > max) {
      bad(flag, concat("0..", static_cast<int64_t>(max)));
      return std::nullopt;
    }
    return value;
  }
  void seconds(std::string_view flag, Nanos& out) {
    if (const auto value = real(flag, kSecondsMax)) out = static_cast<Nanos>(*value * 1e9);
  }

  void read_load() {
    sampler::LoadPlan& plan = out_.plan;
    out_.seed = random_seed() >> 1;  // as --seed takes it
    whole("seed", 0, INT64_MAX, out_.seed);
    if (arguments_.has("duration")) plan.requests = 0;
    whole("num-prompts", 1, kRequestsMax, plan.requests);
    seconds("duration", plan.steady_ns);
    if (arguments_.has("duration") && plan.steady_ns == 0) bad("duration", "> 0");
    whole("warmup-requests", 0, kRequestsMax, plan.warmup_requests);
    seconds("warmup", plan.warmup_ns);
    seconds("ramp", plan.ramp_ns);
    read_rate();
    plan.concurrency = plan.arrivals ? 0 : 1;
    whole("max-concurrency", 1, kConcurrencyMax, plan.concurrency);
    if (arguments_.value("on-cap") == "drop") plan.on_cap = sampler::OnCap::kDrop;
    if (arguments_.has("no-stream")) plan.delivery = sampler::Delivery::kWhole;
  }

  // --request-rate inf is vLLM's word for a closed loop without pauses.
  void read_rate() {
    if (!arguments_.has("request-rate") || arguments_.value("request-rate") == "inf") return;
    const std::optional<double> rate = real("request-rate", kRateMax);
    if (!rate || *rate <= 0) return bad("request-rate", "> 0");
    sampler::SchedulePlan arrivals;
    arrivals.rate = *rate;
    arrivals.warmup_ns = out_.plan.warmup_ns;
    arrivals.ramp_ns = out_.plan.ramp_ns;
    arrivals.seed = out_.seed;
    if (const auto shape = real("burstiness", kRateMax)) {
      if (*shape <= 0) return bad("burstiness", "> 0");
      arrivals.burstiness = *shape;
      if (*shape != 1) arrivals.kind = workload::ArrivalKind::kGamma;
    }
    // The flag's choices are checked by the command line.
    workload::parse_arrival_kind(arguments_.value("arrival"), arrivals.kind);
    out_.plan.arrivals = arrivals;
  }

  void read_limits() {
    seconds("timeout", out_.limits.timeout_ns);
    if (out_.limits.timeout_ns <= 0) bad("timeout", "> 0");
    out_.plan.grace_ns = out_.limits.timeout_ns;
    seconds("grace", out_.plan.grace_ns);
    seconds("probe-rtt", out_.probes.rtt_every_ns);
    if (const auto rate = real("canary-rate", kCanaryRateMax); rate && *rate > 0) {
      out_.probes.canary_every_ns = static_cast<Nanos>(1e9 / *rate);
    }
    auto objectives = sampler::parse_objectives(arguments_.value("goodput"));
    if (!objectives.has_value()) return bad("goodput", "ttft:MS tpot:MS e2el:MS");
    out_.objectives = *objectives;
    out_.has_preflight = !arguments_.has("no-preflight");
    if (arguments_.has("result-dir")) out_.result_dir = arguments_.value("result-dir");
    out_.label = arguments_.value("label");
    out_.baseline = arguments_.value("baseline");
    out_.other_url = arguments_.value("vs");
    whole("vs-runs", 1, kRunsMax, out_.runs_a_side);
    for (const std::string& one : lines_of(arguments_.value("metadata"))) {
      const size_t equals = one.find('=');
      if (equals == std::string::npos || equals == 0) return bad("metadata", "K=V");
      out_.metadata.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    }
  }

  void read_request() {
    whole("max-tokens", 1, kTokensMax, out_.max_tokens);
    read_mix();
    sampler::TargetSettings& target = out_.target;
    target.model = arguments_.value("model");
    target.extra_body = arguments_.value("extra-body");
    if (arguments_.value("connection-reuse") == "never") target.reuse = sampler::Reuse::kNever;
    for (const std::string& one : lines_of(arguments_.value("header"))) {
      const size_t colon = one.find(':');
      if (colon == std::string::npos || colon == 0) return bad("header", "\"NAME: VALUE\"");
      target.headers.emplace_back(one.substr(0, colon),
                                  trim(std::string_view(one).substr(colon + 1)));
    }
  }

  // --isl and --osl alone are a mix of one kind.
  void read_mix() {
    const std::string input = arguments_.value("isl"), output = arguments_.value("osl");
    out_.mix_words = arguments_.value("mix");
    if (out_.mix_words.empty() && (!input.empty() || !output.empty())) {
      out_.mix_words = concat("main=1:isl=", input.empty() ? "1" : input,
                              ",osl=", output.empty() ? std::to_string(out_.max_tokens) : output);
    }
    if (out_.mix_words.empty()) {
      out_.mix = sampler::daily_mix(out_.max_tokens);
      out_.mix_words = "short=0.5;long=0.5";
      return;
    }
    auto mix = sampler::parse_mix(out_.mix_words, out_.max_tokens);
    if (mix.has_value()) {
      out_.mix = std::move(*mix);
    } else if (exit_ == Exit::kFine) {
      complain(mix.error().message);
      exit_ = Exit::kUsage;
    }
  }

  void read_place() {
    const std::string folder = arguments_.value("data");
    const app::DataDir dir(folder.empty() ? std::string(kDefaultData) : folder);
    const std::string running = dir.read_address();
    const bool given = arguments_.has("base-url");
    sampler::TargetSettings& target = out_.target;
    target.base_url = given ? arguments_.value("base-url") : running;
    if (target.base_url.empty()) {
      complain(verify::nothing_to_check(arguments_.language));
      exit_ = Exit::kUsage;
      return;
    }
    target.key = arguments_.value("api-key");
    const bool ours = verify::triple_base_url(target.base_url) == running;
    if (!arguments_.has("api-key") && ours) target.key = dir.read_secret("key");
    read_key(target.key);
    const auto url = probe::inspect_base_url(target.base_url);
    target.dialect = probe::guess_dialect(url, target.model, target.key);
    if (!arguments_.has("dialect")) return;
    if (const auto dialect = read_dialect(arguments_.value("dialect"))) target.dialect = *dialect;
  }

  // "env:NAME" and "file:PATH" as in configuration files.
  void read_key(std::string& key) {
    if (key.starts_with("env:")) {
      const std::string name = key.substr(4);
      const auto found = arguments_.environment.find(name);
      if (found == arguments_.environment.end()) {
        complain(say(arguments_.language, Text::kKeyVariableUnset, {name}));
        exit_ = Exit::kUsage;
        return;
      }
      key = found->second;
    } else if (key.starts_with("file:")) {
      const std::string path = key.substr(5);
      Result<std::string> text = config::read_small_file(path, kKeyFileBytesMax);
      if (!text.has_value()) {
        complain(say(arguments_.language, Text::kKeyFileUnreadable, {path, text.error().message}));
        exit_ = Exit::kUsage;
        return;
      }
      key = std::string(trim(*text));
      while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
    }
  }

  // What a reader of the manifest can type again. Keys and headers stay out.
  void compose_command() {
    out_.command = "headway sample";
    for (const auto& [flag, value] : arguments_.values) {
      if (flag == "api-key" || flag == "header") continue;
      out_.command += concat(" --", flag);
      const bool is_switch = flag == "json" || flag == "no-stream" || flag == "no-preflight";
      if (!is_switch) out_.command += concat(" '", value, "'");
    }
  }

  const Arguments& arguments_;
  SampleSettings& out_;
  Exit exit_ = Exit::kFine;
};

void add_access_flags(std::vector<Flag>& out) {
  out.push_back({"base-url",
                 "URL",
                 {"The endpoint's base URL; otherwise a running `headway up`.",
                  "端点的 Base URL；省略则寻找运行中的 `headway up`。"},
                 "HEADWAY_BASE_URL"});
  out.push_back({"api-key",
                 "KEY",
                 {"The key; env:NAME and file:PATH read it from there.",
                  "密钥；env:名称 与 file:路径 表示从那里读取。"},
                 "HEADWAY_API_KEY"});
  out.push_back({"model",
                 "NAME",
                 {"The model; otherwise the first that the endpoint lists.",
                  "模型；省略则取端点列出的第一个。"},
                 "HEADWAY_MODEL"});
  out.push_back({"dialect",
                 "DIALECT",
                 {"The protocol: chat, completions, responses or messages; otherwise guessed.",
                  "协议：chat、completions、responses 或 messages；省略则推测。"},
                 "",
                 "chat|completions|responses|messages|openai-chat|openai-completions|"
                 "openai-responses|anthropic-messages"});
}

void add_load_flags(std::vector<Flag>& out) {
  out.push_back({"num-prompts", "N", {"Measured requests (50).", "测量的请求数（50）。"}});
  out.push_back({"duration",
                 "S",
                 {"Seconds of the measured phase, instead of or beside --num-prompts.",
                  "测量阶段的秒数，可代替或配合 --num-prompts。"}});
  out.push_back({"max-concurrency",
                 "C",
                 {"Requests under way together (1); with --request-rate a cap (none).",
                  "同时进行的请求数（1）；与 --request-rate 同用时为上限（无）。"}});
  out.push_back({"request-rate",
                 "R",
                 {"Requests a second on a schedule that waits for nobody (open loop).",
                  "按固定计划每秒发出的请求数，不等待响应（开环）。"}});
  out.push_back({"arrival",
                 "KIND",
                 {"How requests of --request-rate arrive: poisson, gamma or constant.",
                  "--request-rate 的到达方式：poisson、gamma 或 constant。"},
                 "",
                 "poisson|gamma|constant"});
  out.push_back({"burstiness",
                 "K",
                 {"Shape of gamma arrivals: below 1 bursty, 1 Poisson, large constant.",
                  "gamma 到达的形状：小于 1 突发，1 为泊松，越大越均匀。"}});
  out.push_back({"on-cap",
                 "WHAT",
                 {"A request due at the cap: wait (and be charged for it) or drop.",
                  "达到上限时到期的请求：wait（计入等待）或 drop（丢弃）。"},
                 "",
                 "wait|drop"});
  out.push_back({"warmup-requests", "N", {"Requests before the run (0).", "预热请求数（0）。"}});
  out.push_back({"warmup", "S", {"Seconds of warm-up (0).", "预热秒数（0）。"}});
  out.push_back({"ramp", "S", {"Seconds until the load is full (0).", "加到满载的秒数（0）。"}});
  out.push_back({"grace",
                 "S",
                 {"Seconds for the end of the last request (--timeout).",
                  "等待最后一个请求结束的秒数（同 --timeout）。"}});
}

void add_request_flags(std::vector<Flag>& out) {
  out.push_back({"timeout", "S", {"Seconds for one request (120).", "单个请求的秒数（120）。"}});
  out.push_back(
      {"max-tokens", "N", {"Tokens of an answer (256).", "每个回答的 token 数（256）。"}});
  out.push_back({"isl",
                 "TOKENS",
                 {"About how long prompts are: 512, 100..900, lognormal:800,0.9, exponential:300.",
                  "提示的大致长度：512、100..900、lognormal:800,0.9、exponential:300。"}});
  out.push_back({"osl",
                 "TOKENS",
                 {"How long answers may be, likewise (--max-tokens).",
                  "回答的最大长度，写法相同（同 --max-tokens）。"}});
  out.push_back({"mix",
                 "MIX",
                 {"Kinds of prompts: short=0.8:isl=128,osl=64;long=0.2:isl=8000,osl=512.",
                  "提示的种类：short=0.8:isl=128,osl=64;long=0.2:isl=8000,osl=512。"}});
  out.push_back({"no-stream", "", {"Answers in one piece.", "不使用流式。"}});
  out.push_back({"seed", "N", {"Makes a run repeatable.", "使运行可重复。"}});
  out.push_back({"connection-reuse",
                 "HOW",
                 {"pooled: keep connections; never: a new one for each request.",
                  "pooled：复用连接；never：每个请求新建连接。"},
                 "",
                 "pooled|never"});
  out.push_back({"header",
                 "LINE...",
                 {"Further headers, \"NAME: VALUE\".", "附加请求头，\"NAME: VALUE\"。"}});
  out.push_back({"extra-body",
                 "JSON",
                 {"An object whose members go into each body.", "合并到请求体中的 JSON 对象。"}});
  out.push_back({"goodput",
                 "OBJECTIVES",
                 {"Counts requests within \"ttft:500 tpot:50 e2el:8000\", milliseconds.",
                  "统计满足 \"ttft:500 tpot:50 e2el:8000\"（毫秒）的请求。"}});
  out.push_back({"probe-rtt",
                 "S",
                 {"Seconds between TCP handshakes beside the run (none).",
                  "运行期间 TCP 握手探测的间隔秒数（无）。"}});
  out.push_back({"canary-rate",
                 "R",
                 {"Smallest requests a second beside the run, never counted (none).",
                  "运行期间每秒最小请求数，不计入结果（无）。"}});
  out.push_back({"no-preflight", "", {"Without the first check.", "跳过预检请求。"}});
}

}  // namespace

std::vector<Flag> sample_flags() {
  std::vector<Flag> out;
  add_access_flags(out);
  add_load_flags(out);
  add_request_flags(out);
  out.push_back({"result-dir",
                 "DIR",
                 {"Where the run's folder is made (runs).", "运行目录的上级目录（runs）。"}});
  out.push_back(
      {"baseline",
       "NAME",
       {"Compares the run with that baseline; a run that looks slower is confirmed by another.",
        "与该基线比较；看起来变慢时自动再运行一次以确认。"}});
  out.push_back({"vs",
                 "URL",
                 {"Compares with another endpoint, which is the base: runs in turn, A B B A.",
                  "与另一端点（作为基准）比较：交替运行 A B B A。"}});
  out.push_back({"vs-runs", "K", {"Runs of --vs on each side (5).", "--vs 每侧的运行次数（5）。"}});
  out.push_back({"label", "TEXT", {"A name for the run.", "运行的名称。"}});
  out.push_back({"metadata", "K=V...", {"Notes kept with the run.", "随运行保存的备注。"}});
  out.push_back(archive_flag());
  out.push_back(json_flag());
  return out;
}

Exit read_sample_settings(const Arguments& arguments, SampleSettings& out) {
  return Reader(arguments, out).read();
}

}  // namespace hw::cli
