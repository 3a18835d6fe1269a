// The commands that serve from a configuration file: serve and engine.
#include <unistd.h>

#include "app/engine_file.h"
#include "app/gateway_file.h"
#include "app/gateway_run.h"
#include "app/instance_run.h"
#include "app/option_reference.h"
#include "base/text.h"
#include "cli/commands.h"
#include "command/obstacle.h"
#include "json/writer.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;
namespace {

// Flags of both commands.
std::vector<Flag> config_flags(config::Words config_meaning) {
  return {
      {"config", "FILE", config_meaning},
      {"check",
       "",
       {"Read the configuration, say what is wrong with it, and stop.",
        "读取配置，指出错误，然后结束。"}},
      {"help-options", "", {"List all options.", "列出全部选项。"}},
      {"print-sample",
       "",
       {"Print a file with every option at its default.", "打印一份包含所有选项默认值的配置。"}},
      {"json",
       "",
       {"One line on standard output when it serves.", "开始服务时在标准输出打印一行。"}},
  };
}

// Prints what is asked for instead of serving; true where that was all.
bool print_about(const Arguments& arguments, const config::OptionTable& table) {
  if (arguments.has("help-options")) {
    print(app::options_help(table, arguments.language));
  } else if (arguments.has("print-sample")) {
    print(app::sample_file(table, arguments.language));
  } else if (arguments.has("print-reference")) {
    print(app::reference_page());
  } else {
    return false;
  }
  return true;
}

config::ConfigSources sources_of(const Arguments& arguments) {
  config::ConfigSources out;
  out.file = arguments.value("config");
  out.environment = arguments.environment;
  out.flags = arguments.options;
  out.language = arguments.language;
  return out;
}

Exit report(const std::vector<config::Problem>& problems, config::Language language) {
  for (const config::Problem& problem : problems) note(config::describe(problem, language));
  complain(say(language, Text::kConfigBad, {std::to_string(problems.size())}));
  return Exit::kUsage;
}

// The file and all that stands beside it; also how a reload reads it again.
app::ReadGatewayFile read_gateway(config::ConfigSources sources) {
  if (!sources.file.empty()) {
    if (auto problems = app::read_text_of(sources); !problems.empty()) return {{}, problems};
  }
  return app::read_gateway_file(sources);
}

std::string address_of(const gateway::Options& options, uint16_t port) {
  const bool v6 = options.listen_host.find(':') != std::string::npos;
  return concat(options.tls.certificate.empty() ? "http://" : "https://", v6 ? "[" : "",
                options.listen_host, v6 ? "]" : "", ":", port);
}

void announce(const Arguments& arguments, std::string_view name, const std::string& url,
              const std::string& text) {
  if (!arguments.has("json")) {
    note(text);
    return;
  }
  std::string line;
  json::Writer writer(line);
  writer.begin_object();
  writer.field(name, url);
  writer.end_object();
  print(line + "\n");
}

Exit serve(const Arguments& arguments) {
  const config::Language language = arguments.language;
  if (print_about(arguments, app::gateway_options())) return Exit::kFine;
  config::ConfigSources sources = sources_of(arguments);
  if (sources.file.empty() && ::access("headway.toml", R_OK) == 0) sources.file = "headway.toml";
  if (sources.file.empty()) {
    complain(say(language, Text::kNoConfig));
    return Exit::kUsage;
  }
  app::ReadGatewayFile read = read_gateway(sources);
  if (!read.problems.empty()) return report(read.problems, language);
  if (arguments.has("check")) {
    for (const std::string& one : read.config.notes) note(one);
    print(say(language, Text::kConfigGood, {sources.file}) + "\n");
    return Exit::kFine;
  }
  const StartFlags flags = {"--gateway.listen 127.0.0.1:0", "--store.path FILE"};
  if (!may_start(read.config, "", flags, language)) return Exit::kUsage;
  const gateway::Options options = read.config.gateway;
  app::RunHooks hooks;
  hooks.read_again = [sources]() mutable {
    sources.language = config::Language::kEnglish;  // of the log
    return read_gateway(sources);
  };
  hooks.ready = [&](app::GatewaySystem& system) {
    const std::string url = address_of(options, system.port());
    announce(arguments, "base_url", url, say(language, Text::kServing, {url}));
  };
  const Status ran = app::run_gateway(std::move(read.config), hooks);
  if (ran.has_value()) return Exit::kFine;
  complain(ran.error().message);
  return Exit::kUsage;
}

// The flags of other programs become those of our options.
void add_aliased(const Arguments& arguments, config::ConfigSources& sources) {
  for (const app::FlagAlias& alias : app::engine_flag_aliases()) {
    if (!arguments.has(alias.flag)) continue;
    const std::string value =
        alias.value.empty() ? arguments.value(alias.flag) : std::string(alias.value);
    sources.flags.push_back({std::string(alias.option), value});
  }
}

Exit run_engine(const Arguments& arguments) {
  const config::Language language = arguments.language;
  if (print_about(arguments, app::engine_options())) return Exit::kFine;
  config::ConfigSources sources = sources_of(arguments);
  add_aliased(arguments, sources);
  if (!sources.file.empty()) {
    if (auto problems = app::read_text_of(sources); !problems.empty()) {
      return report(problems, language);
    }
  }
  const app::ReadEngineFile read = app::read_engine_file(sources);
  if (!read.problems.empty()) return report(read.problems, language);
  for (const std::string& one : read.notes) note(one);
  if (arguments.has("check")) {
    print(say(language, Text::kConfigGood, {sources.file}) + "\n");
    return Exit::kFine;
  }
  const engine::Options& options = read.config;
  const Status ran = app::run_instance(options, [&](uint16_t port) {
    const std::string url = concat("http://", options.server.host, ":", port);
    announce(arguments, "engine_url", url,
             say(language, Text::kInstanceServing, {options.model.model_id, url}));
  });
  if (ran.has_value()) return Exit::kFine;
  complain(ran.error().message);
  return Exit::kUsage;
}

}  // namespace

Command serve_command() {
  Command out;
  out.name = "serve";
  out.summary = {
      "Runs the gateway from a configuration file, in the foreground. SIGHUP reads the "
      "file again, SIGTERM lets streams finish.",
      "按配置文件在前台运行网关。SIGHUP 重新读取文件，SIGTERM 让流结束后退出。"};
  out.flags = config_flags({"The configuration; without: headway.toml in this folder.",
                            "配置文件；省略则为当前目录的 headway.toml。"});
  out.flags.push_back({"print-reference",
                       "",
                       {"Print the reference page of all options.", "打印全部选项的参考页。"}});
  out.examples = {"headway serve --config headway.toml",
                  "headway serve --config headway.toml --check",
                  "headway serve --config headway.toml --gateway.listen 0.0.0.0:8080",
                  "headway serve --print-sample > headway.toml"};
  out.options = {&app::gateway_options()};
  out.run = serve;
  return out;
}

Command engine_command() {
  Command out;
  out.name = "engine";
  out.summary = {"Runs one inference instance, in the foreground.", "在前台运行一个推理实例。"};
  out.flags = config_flags({"The configuration; without: every option at its default.",
                            "配置文件；省略则全部取默认值。"});
  for (const app::FlagAlias& alias : app::engine_flag_aliases()) {
    out.flags.push_back({alias.flag, alias.value.empty() ? "VALUE" : "", alias.meaning});
  }
  out.examples = {"headway engine", "headway engine --config engine.toml",
                  "headway engine --model.path model.gguf --server.port 8001",
                  "headway engine --backend gpu-model --gpu H100 --shape qwen3-32b --speed 1",
                  "headway engine --max-num-seqs 4 --enable-prefix-caching"};
  out.options = {&app::engine_options()};
  out.run = run_engine;
  return out;
}

}  // namespace hw::cli
