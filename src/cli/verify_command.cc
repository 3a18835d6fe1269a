#include <unistd.h>

#include <chrono>
#include <thread>

#include "app/data_dir.h"
#include "base/text.h"
#include "cli/commands.h"
#include "command/last_triple.h"
#include "command/number_flags.h"
#include "config/document.h"
#include "config/text_width.h"
#include "json/writer.h"
#include "probe/check.h"
#include "store/call_json.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/waterfall.h"
#include "verify/reference.h"
#include "verify/report.h"
#include "verify/verdict.h"
#include "verify/watch.h"

namespace hw::cli {

using namespace terminal;
using verify::Conclusion;
namespace {

constexpr std::string_view kDefaultData = "data";
constexpr int64_t kEveryDefaultS = 30;
constexpr int64_t kSecondsMax = 3600;
constexpr size_t kKeyFileBytesMax = 4096;

// A dialect by its short or its long name.
std::optional<Dialect> read_dialect(std::string_view name) {
  for (const auto& [word, dialect] :
       {std::pair{"chat", Dialect::kOpenaiChat}, std::pair{"responses", Dialect::kOpenaiResponses},
        std::pair{"messages", Dialect::kAnthropicMessages},
        std::pair{"completions", Dialect::kOpenaiCompletions}}) {
    if (name == word || name == dialect_name(dialect)) return dialect;
  }
  return std::nullopt;
}

Exit exit_of(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kFine:
    case Conclusion::kRemarks:
      return Exit::kFine;
    case Conclusion::kFailed:
      return Exit::kNo;
    case Conclusion::kUnreachable:
      return Exit::kUnreachable;
    case Conclusion::kUnusable:
      return Exit::kUsage;
  }
  return Exit::kNo;
}

class VerifyRun {
 public:
  explicit VerifyRun(const Arguments& arguments)
      : arguments_(arguments),
        language_(arguments.language),
        json_(arguments.has("json")),
        last_(last_triple_path(arguments.environment)) {}

  Exit run() {
    if (arguments_.has("codes")) {
      print(verify::code_reference(language_));
      return Exit::kFine;
    }
    if (const Exit read = read_flags(); read != Exit::kFine) return read;
    if (!arguments_.has("watch")) return once(Show::kWhole);
    Exit last = Exit::kFine;
    for (int64_t round = 0; rounds_ == 0 || round < rounds_; ++round) {
      if (round > 0) std::this_thread::sleep_for(std::chrono::seconds(every_s_));
      last = once(Show::kLine);
      if (last == Exit::kUsage) break;
    }
    return last;
  }

 private:
  // How much of a round is printed.
  enum class Show : uint8_t {
    kWhole,
    kLine,  // a line; the findings too where they are others than before
  };

  Exit read_flags() {
    int64_t timeout_s = 60, connect_s = 10;
    const NumberFlags numbers(arguments_);
    const bool good = numbers.read("timeout", 1, kSecondsMax, timeout_s) &&
                      numbers.read("connect-timeout", 1, kSecondsMax, connect_s) &&
                      numbers.read("every", 1, 24 * kSecondsMax, every_s_) &&
                      numbers.read("rounds", 1, INT64_MAX, rounds_);
    if (!good) return Exit::kUsage;
    settings_.limits.connect_ns = connect_s * kSecond;
    settings_.limits.silence_ns = timeout_s * kSecond;
    settings_.limits.total_ns = 4 * timeout_s * kSecond;
    settings_.environment = arguments_.environment;
    settings_.model = arguments_.value("model");
    if (arguments_.has("dialect")) {
      settings_.dialect = read_dialect(arguments_.value("dialect"));
      if (!settings_.dialect) {
        numbers.refuse("dialect", "chat, responses, messages, completions");
        return Exit::kUsage;
      }
    }
    if (!json_ && ::isatty(STDERR_FILENO) == 1) {
      settings_.on_request = [](const std::string& url) { note(config::printable("... " + url)); };
    }
    return read_place();
  }

  // Base URL and key: from flags and their variables, else those of a running `headway up`. Read
  // anew in every round of a watch, since a file may change.
  Exit read_place() {
    const std::string folder = arguments_.value("data");
    const app::DataDir dir(folder.empty() ? std::string(kDefaultData) : folder);
    const std::string running = dir.read_address();
    const bool given = arguments_.has("base-url");
    settings_.base_url = given ? arguments_.value("base-url") : running;
    if (!given && running.empty()) {
      complain(verify::nothing_to_check(language_));
      return Exit::kUsage;
    }
    const bool ours = verify::triple_base_url(settings_.base_url) == running;
    settings_.key = arguments_.value("api-key");
    if (!arguments_.has("api-key") && ours) settings_.key = dir.read_secret("key");
    return read_key();
  }

  // "env:NAME" and "file:PATH" as in configuration files, but with whatever damage is in them, as
  // "$(cat PATH)" would hand it on.
  Exit read_key() {
    if (settings_.key.starts_with("env:")) {
      const std::string name = settings_.key.substr(4);
      const auto found = arguments_.environment.find(name);
      if (found == arguments_.environment.end()) {
        complain(say(language_, Text::kKeyVariableUnset, {name}));
        return Exit::kUsage;
      }
      settings_.key = found->second;
    } else if (settings_.key.starts_with("file:")) {
      Result<std::string> text = config::read_small_file(settings_.key.substr(5), kKeyFileBytesMax);
      if (!text.has_value()) {
        complain(say(language_, Text::kKeyFileUnreadable,
                     {settings_.key.substr(5), text.error().message}));
        return Exit::kUsage;
      }
      while (text->ends_with('\n')) text->pop_back();
      settings_.key = std::move(*text);
    }
    return Exit::kFine;
  }

  Exit once(Show show) {
    if (rounds_done_++ > 0) {
      if (const Exit read = read_place(); read != Exit::kFine) return read;
    }
    const probe::Record record = probe::run_check(settings_);
    const verify::Verdict verdict = verify::conclude(record);
    const std::string changed = notice_change(record, verdict);
    if (json_) {
      print_json(record, verdict);
    } else if (show == Show::kWhole) {
      print_whole(record, verdict);
    } else {
      print(config::printable(verify::watch_line(record, verdict, wall_ns(), language_)) + "\n");
      const std::string codes = verify::codes_of(verdict);
      if (codes != codes_ && !codes.empty()) print_whole(record, verdict);
      codes_ = codes;
    }
    if (!changed.empty() && !json_) print("\n" + changed);
    return exit_of(verdict.conclusion);
  }

  // Compares with the run before and remembers this one, where there was something to measure.
  std::string notice_change(const probe::Record& record, const verify::Verdict& verdict) {
    verify::Triple now = last_.make(settings_.base_url, settings_.key, record.model);
    if (!record.tries.empty()) now.answered_by = record.plain().reading.model;
    change_ = verify::TripleChange();
    std::string words;
    if (last_.before().has_value()) {
      change_ = verify::compare_triples(*last_.before(), now);
      words = verify::triple_words(*last_.before(), now, change_, language_);
    }
    const bool measured =
        verdict.conclusion == Conclusion::kFine || verdict.conclusion == Conclusion::kRemarks;
    if (measured) last_.keep(now);
    return words;
  }

  void print_whole(const probe::Record& record, const verify::Verdict& verdict) {
    const Colour colour = colour_of_output(arguments_.environment);
    print(verify::verdict_text(verdict, language_, colour));
    for (const probe::GatewayCall& call : record.gateway_calls) {
      if (!call.json.empty() && !call.streamed) continue;
      print("\n" + config::printable(verify::call_heading(call, language_)) + "\n");
      const Result<timeline::Call> parsed = store::parse_call_json(call.json);
      if (parsed.has_value()) print(render_waterfall(*parsed, language_, colour));
    }
  }

  void print_json(const probe::Record& record, const verify::Verdict& verdict) {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("exit", static_cast<int>(exit_of(verdict.conclusion)));
    verify::write_verdict(writer, record, verdict, language_);
    writer.key("changed");
    writer.begin_array();
    for (const std::string_view name : verify::changed_names(change_)) writer.value(name);
    writer.end_array();
    writer.end_object();
    print(out + "\n");
  }

  const Arguments& arguments_;
  const config::Language language_;
  const bool json_;
  LastTriple last_;
  probe::CheckSettings settings_;
  verify::TripleChange change_;
  int64_t every_s_ = kEveryDefaultS;
  int64_t rounds_ = 0;  // 0: without end
  int64_t rounds_done_ = 0;
  std::string codes_;
};

std::vector<Flag> flags() {
  return {
      {"base-url",
       "URL",
       {"The endpoint's base URL, as its clients take it; otherwise a running `headway up`.",
        "端点的 Base URL，与其客户端所用相同；省略则寻找运行中的 `headway up`。"},
       "HEADWAY_BASE_URL"},
      {"api-key",
       "KEY",
       {"The key; env:NAME and file:PATH read it from there.",
        "密钥；env:名称 与 file:路径 表示从那里读取。"},
       "HEADWAY_API_KEY"},
      {"model",
       "NAME",
       {"The model; otherwise the first that the endpoint lists.",
        "模型；省略则取端点列出的第一个。"},
       "HEADWAY_MODEL"},
      {"dialect",
       "DIALECT",
       {"The protocol: chat, responses, messages or completions; otherwise guessed.",
        "协议：chat、responses、messages 或 completions；省略则推测。"},
       "",
       "chat|responses|messages|completions|openai-chat|openai-responses|anthropic-messages|"
       "openai-completions"},
      {"data",
       "DIR",
       {"The folder of `headway up`; otherwise ./data.", "`headway up` 的目录；省略则为 ./data。"},
       "HEADWAY_DATA"},
      {"timeout",
       "S",
       {"Seconds without a byte after which a request is given up (60).",
        "多少秒没有任何字节即放弃请求（60）。"}},
      {"connect-timeout",
       "S",
       {"Seconds for DNS, TCP and TLS together (10).", "DNS、TCP 与 TLS 合计的秒数（10）。"}},
      {"watch",
       "",
       {"Go on, one line a round; tells when Base URL, Key or Model changed.",
        "持续检查，每轮一行；Base URL、密钥或模型改变时会指出。"}},
      {"every", "S", {"Seconds between the rounds of --watch (30).", "--watch 的间隔秒数（30）。"}},
      {"rounds",
       "N",
       {"Rounds of --watch; otherwise without end.", "--watch 的轮数；省略则不停。"}},
      {"codes", "", {"All codes with what they mean, and nothing else.", "列出所有代码及其含义。"}},
      json_flag(),
  };
}

}  // namespace

Command verify_command() {
  Command out;
  out.name = "verify";
  out.summary = {
      "Checks an access with one small request, not streamed and streamed: URL, proxy, DNS, TCP, "
      "TLS, HTTP, key, model, answer, stream. Says whose fault a failure is and what to change.",
      "用一个小请求（非流式与流式）检查访问：地址、代理、DNS、TCP、TLS、HTTP、密钥、模型、回答、流"
      "式。"
      "指出失败的责任方与改法。"};
  out.flags = flags();
  out.examples = {"headway verify",
                  "headway verify --base-url https://api.example.com/v1 --api-key env:API_KEY "
                  "--model gpt-4o",
                  "headway verify --dialect messages --json", "headway verify --watch --every 10"};
  out.run = [](const Arguments& arguments) { return VerifyRun(arguments).run(); };
  return out;
}

}  // namespace hw::cli
