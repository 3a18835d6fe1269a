#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>

#include "app/engine_file.h"
#include "app/gateway_run.h"
#include "app/instance_process.h"
#include "app/up_plan.h"
#include "base/text.h"
#include "cli/commands.h"
#include "command/obstacle.h"
#include "json/writer.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;
namespace {

// A model is read from disk in seconds; a cold disk and a busy machine take longer.
constexpr Nanos kLoadMax = 300 * kSecond;

std::string own_program() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string("headway");
}

// What listens on every address is reached on the loopback.
std::string url_of(const gateway::Options& options, uint16_t port) {
  std::string host = options.listen_host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  const bool v6 = host.find(':') != std::string::npos;
  return concat(options.tls.certificate.empty() ? "http://" : "https://", v6 ? "[" : "", host,
                v6 ? "]" : "", ":", port);
}

// One run of `headway up`: the gateway in the foreground, the instance started beside it.
class UpRun {
 public:
  UpRun(const Arguments& arguments, app::UpRequest request, app::UpPlan plan)
      : arguments_(arguments),
        request_(std::move(request)),
        plan_(std::move(plan)),
        options_(plan_.config.gateway) {}

  Exit run() {
    const StartFlags flags = {"--port 0", "--data FOLDER"};
    if (!may_start(plan_.config, plan_.dir.read_address(), flags, arguments_.language)) {
      return Exit::kUsage;
    }
    app::RunHooks hooks;
    hooks.read_again = [this] {
      app::ReadGatewayFile fresh = app::read_again(request_, plan_);
      if (fresh.problems.empty()) keep_token(fresh.config.gateway.admin_token);
      return fresh;
    };
    hooks.ready = [this](app::GatewaySystem& system) { begin(system); };
    hooks.ended = [this] { end(); };
    const Status ran = app::run_gateway(plan_.config, hooks);
    if (!ran.has_value()) {
      complain(ran.error().message);
      return Exit::kUsage;
    }
    return exit_;
  }

 private:
  std::string text(Text what, std::initializer_list<std::string> arguments = {}) const {
    return say(arguments_.language, what, arguments);
  }

  // The folder has the token in force, one that is configured too: commands in other terminals find
  // it there.
  void keep_token(const std::string& token) {
    if (plan_.dir.read_secret("admin_token") == token) return;
    if (const Status kept = plan_.dir.keep_secret("admin_token", token); !kept) {
      complain(kept.error().message);
    }
  }

  // The sockets are open. The instance loads on a thread of its own, so that the gateway serves
  // /livez and /metrics meanwhile.
  void begin(app::GatewaySystem& system) {
    base_url_ = url_of(options_, system.port());
    keep_token(options_.admin_token);
    if (!plan_.instance.has_value()) {
      announce();
      return;
    }
    instance_.emplace(*plan_.instance);
    starter_ = std::thread([this, &system] { start_instance(system); });
  }

  void start_instance(app::GatewaySystem& system) {
    note(text(Text::kUpLoading, {plan_.model_id}));
    const Status healthy = instance_->wait_healthy(
        kLoadMax, [this](int seconds) { note(text(Text::kUpWaiting, {std::to_string(seconds)})); });
    if (healthy.has_value()) {
      announce();
      return;
    }
    if (healthy.error().code == ErrorCode::kDraining) return;
    complain(healthy.error().message);
    exit_ = Exit::kUnreachable;
    system.stop();
  }

  void end() {
    if (instance_.has_value()) instance_->stop();
    if (starter_.joinable()) starter_.join();
    plan_.dir.remove_address();
  }

  void announce() {
    if (const Status written = plan_.dir.write_address(base_url_); !written) {
      complain(written.error().message);
    }
    if (arguments_.has("json")) {
      print(json_line() + "\n");
    } else {
      print(summary());
    }
  }

  std::string engine_url() const {
    return concat("http://", plan_.instance->host, ":", plan_.instance->port);
  }

  std::string json_line() const {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("base_url", base_url_);
    writer.field("openai_base_url", base_url_ + "/v1");
    writer.field("api_key", plan_.api_key);
    if (plan_.instance.has_value()) {
      writer.field("model_id", plan_.model_id);
      writer.field("engine_url", engine_url());
    } else {
      writer.field_null("model_id");
      writer.field_null("engine_url");
    }
    writer.field_null("console_url");
    writer.field("admin_token", plan_.config.gateway.admin_token);
    writer.end_object();
    return out;
  }

  std::string summary() const {
    std::string out =
        concat(text(Text::kUpReady, {base_url_}), "\n", text(Text::kUpKey, {plan_.api_key}), "\n");
    if (plan_.config.channels.empty()) {
      return out + concat("\n", text(Text::kUpNoEngine), "\n", text(Text::kUpStop), "\n");
    }
    if (!plan_.instance.has_value()) return out + text(Text::kUpStop) + "\n";
    out += concat(text(Text::kUpModel, {plan_.model_id}), "\n",
                  text(Text::kUpInstance, {engine_url()}), "\n\n", text(Text::kUpTryIt), "\n\n");
    out += concat("curl -N ", base_url_, "/v1/chat/completions \\\n  -H 'Authorization: Bearer ",
                  plan_.api_key,
                  "' \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"model\": \"",
                  plan_.model_id,
                  "\", \"stream\": true, \"max_tokens\": 64, \"messages\": [{\"role\": \"user\", "
                  "\"content\": \"Say hello.\"}]}'\n\n");
    out += concat(text(Text::kUpTrace), "\n", text(Text::kUpDocs, {base_url_}), "\n");
    if (const std::string folder = unknown_folder(); !folder.empty()) {
      out += concat(text(Text::kUpPath, {folder}), "\n");
    }
    return out + concat(text(Text::kUpStop), "\n");
  }

  // The folder of this program where the shell would not find it there; else empty.
  std::string unknown_folder() const {
    const std::string folder = std::filesystem::path(request_.program).parent_path().string();
    const std::string path(config::value_of(arguments_.environment, "PATH"));
    return concat(":", path, ":").find(concat(":", folder, ":")) == std::string::npos
               ? folder
               : std::string();
  }

  const Arguments& arguments_;
  app::UpRequest request_;
  app::UpPlan plan_;
  const gateway::Options options_;
  std::string base_url_;
  std::optional<app::InstanceProcess> instance_;
  std::thread starter_;
  std::atomic<Exit> exit_{Exit::kFine};
};

Exit up(const Arguments& arguments) {
  const config::Language language = arguments.language;
  app::UpRequest request;
  request.program = own_program();
  request.environment = arguments.environment;
  request.flags = arguments.options;
  request.language = language;
  request.config_file = arguments.value("config");
  if (arguments.has("data")) request.data_dir = arguments.value("data");
  if (arguments.has("port")) {
    uint16_t port = 0;
    if (!parse_number(arguments.value("port"), port)) {
      complain(say(language, Text::kBadFlagValue, {"--port", "0..65535", arguments.value("port")}));
      return Exit::kUsage;
    }
    request.port = port;
  }
  if (arguments.value("engine") == "gpu-model") request.engine = app::EmbeddedEngine::kGpuModel;
  if (arguments.value("engine") == "none") request.engine = app::EmbeddedEngine::kNone;
  std::vector<config::Problem> problems;
  Result<app::UpPlan> plan = app::plan_up(request, problems);
  for (const config::Problem& problem : problems) complain(config::describe(problem, language));
  if (!plan.has_value()) {
    if (problems.empty()) complain(plan.error().message);
    return Exit::kUsage;
  }
  request.language = config::Language::kEnglish;  // of the log, for reloads
  return UpRun(arguments, std::move(request), std::move(*plan)).run();
}

}  // namespace

Command up_command() {
  Command out;
  out.name = "up";
  out.summary = {
      "Runs gateway, store and one embedded instance, in the foreground; needs no "
      "configuration. Its key and admin token are made at the first start and kept in "
      "DIR.",
      "在前台运行网关、存储与一个内嵌实例；无需配置。密钥与管理令牌在首次启动时生成并保存在 "
      "DIR 中。"};
  out.flags = {
      {"port",
       "PORT",
       {"Where to listen (8080); 0: any free port.", "监听端口（8080）；0 表示任一空闲端口。"}},
      {"engine",
       "llama|gpu-model|none",
       {"The embedded instance: llama computes real weights on the CPU; gpu-model computes nothing "
        "and takes as long as a GPU (--model.gpu, --model.shape).",
        "内嵌实例：llama 在 CPU 上计算真实权重；gpu-model 不计算，用时与 GPU 相同（--model.gpu、"
        "--model.shape）。"},
       "",
       "llama|gpu-model|none"},
      {"data",
       "DIR",
       {"Where key, token and database are kept (./data).",
        "保存密钥、令牌与数据库的目录（./data）。"},
       "HEADWAY_DATA"},
      {"config",
       "FILE",
       {"Further settings, channels and keys, as for serve.",
        "更多设置、通道与密钥，与 serve 相同。"}},
      {"json",
       "",
       {"One JSON line on standard output when it is ready.", "就绪时在标准输出打印一行 JSON。"}},
  };
  out.examples = {"headway up", "headway up --port 0 --json",
                  "headway up --engine none --config headway.toml",
                  "headway up --engine gpu-model --model.gpu H100 --model.shape llama-3.1-8b",
                  "headway up --model.path model.gguf --model.model_id my-model"};
  out.options = {&app::gateway_options(), &app::engine_options()};
  out.run = up;
  return out;
}

}  // namespace hw::cli
