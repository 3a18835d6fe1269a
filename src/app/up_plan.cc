#include "app/up_plan.h"

#include <unistd.h>

#include <algorithm>

#include "app/engine_file.h"
#include "base/text.h"
#include "engine/limits.h"
#include "llama/instance.h"

namespace hw::app {
namespace {

constexpr std::string_view kKeyName = "dev";
constexpr std::string_view kChannelName = "local";

// The flags whose section belongs to `table`.
std::vector<config::OptionFlag> flags_of(const config::OptionTable& table,
                                         const std::vector<config::OptionFlag>& flags) {
  std::vector<config::OptionFlag> out;
  for (const config::OptionFlag& flag : flags) {
    if (table.find(flag.name.substr(0, flag.name.find('.'))) != nullptr) out.push_back(flag);
  }
  return out;
}

config::ConfigSources sources_of(const UpRequest& request, const config::OptionTable& table) {
  config::ConfigSources out;
  out.environment = request.environment;
  out.flags = flags_of(table, request.flags);
  out.language = request.language;
  return out;
}

bool is_set(const UpRequest& request, std::string_view section, std::string_view option) {
  const std::string name = concat(section, ".", option);
  return request.environment.contains(config::environment_name(section, option)) ||
         std::any_of(request.flags.begin(), request.flags.end(),
                     [&](const config::OptionFlag& flag) { return flag.name == name; });
}

// A flag of no section at all would otherwise be dropped without a word.
void report_strays(const UpRequest& request, std::vector<config::Problem>& problems) {
  for (const config::OptionFlag& flag : request.flags) {
    const std::string section = flag.name.substr(0, flag.name.find('.'));
    if (gateway_options().find(section) != nullptr || engine_options().find(section) != nullptr) {
      continue;
    }
    config::Problem problem;
    problem.source = config::SourceKind::kFlag;
    problem.place = concat("--", flag.name);
    problem.kind = config::ProblemKind::kUnknownSection;
    problem.arguments = {"gateway, store, retry, timeouts, server, model, scheduler"};
    problems.push_back(std::move(problem));
  }
}

route::ChannelOptions local_channel(const InstancePlan& instance, const std::string& model_id) {
  route::ChannelOptions out;
  out.name = kChannelName;
  out.family = Family::kOpenai;
  out.base_url.host = instance.host;
  out.base_url.port = instance.port;
  out.base_url.path = "/v1";
  out.serves.add(route::Endpoint::kChat);
  out.serves.add(route::Endpoint::kCompletions);
  out.serves.add(route::Endpoint::kTokenize);
  out.models = {model_id};
  return out;
}

Status find_model(const engine::Options& engine) {
  const bool is_default = engine.model.path.empty();
  const std::string path = is_default ? llama::default_model_path() : engine.model.path;
  if (::access(path.c_str(), R_OK) == 0) return {};
  if (!is_default) return fail(ErrorCode::kConfig, concat("cannot read the model ", path));
  return fail(ErrorCode::kConfig,
              concat("the small model is not there (", path,
                     "). Get it with: scripts/get-model.sh; or give another with --model.path "
                     "FILE.gguf; or start without an instance: headway up --engine none"));
}

Result<InstancePlan> plan_instance(const UpRequest& request, const engine::Options& engine) {
  const bool real = request.engine == EmbeddedEngine::kLlama;
  if (real) {
    if (const Status there = find_model(engine); !there) return fail(there.error());
  }
  InstancePlan out;
  out.program = request.program;
  if (is_set(request, "server", "port") && engine.server.port != 0) {
    out.port = engine.server.port;
  } else {
    const Result<uint16_t> port = free_port();
    if (!port.has_value()) return fail(port.error());
    out.port = *port;
  }
  const bool chinese = request.language == config::Language::kChinese;
  out.arguments = {"engine", chinese ? "--lang=zh" : "--lang=en"};
  const bool sized =
      is_set(request, "model", "max_batch_size") || is_set(request, "model", "max_num_seqs");
  // The default is a GPU's; more than this the CPU would only mention in the log and cut.
  if (!real) out.arguments.push_back("--model.backend=gpu-model");
  if (real && !sized)
    out.arguments.push_back(concat("--model.max_batch_size=", engine::kCpuSequencesMax));
  for (const config::OptionFlag& flag : flags_of(engine_options(), request.flags)) {
    if (flag.name == "server.port" || flag.name == "server.host") continue;
    if (flag.name == "model.backend") continue;
    out.arguments.push_back(concat("--", flag.name, "=", flag.value));
  }
  out.arguments.push_back(concat("--server.host=", out.host));
  out.arguments.push_back(concat("--server.port=", out.port));
  return out;
}

ReadGatewayFile read_settings(const UpRequest& request) {
  config::ConfigSources sources = sources_of(request, gateway_options());
  sources.file = request.config_file;
  if (!sources.file.empty()) {
    if (auto problems = read_text_of(sources); !problems.empty()) return {{}, problems};
  }
  return read_gateway_file(sources);
}

// `name`, or with a suffix where the file uses it for something else.
template <class List, class NameOf>
std::string free_name(std::string name, const List& list, NameOf name_of) {
  const auto taken = [&] {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& one) { return name_of(one) == name; });
  };
  while (taken()) name += "-up";
  return name;
}

// What `up` adds to the settings: its key, its token, its store and the channel to its instance.
void add_own(const UpRequest& request, const UpPlan& plan, GatewayFile& config) {
  const auto name_of_key = [](const access::DeclaredKey& key) { return key.name; };
  config.keys.push_back(
      {free_name(std::string(kKeyName), config.keys, name_of_key), plan.api_key, {"*"}});
  if (config.gateway.admin_token.empty()) config.gateway.admin_token = plan.admin_token;
  const bool default_path = config.store.path == store::StoreOptions().path;
  if (default_path && !is_set(request, "store", "path")) config.store.path = plan.dir.database();
  if (request.port.has_value()) config.gateway.listen_port = *request.port;
  if (!plan.instance.has_value()) return;
  route::ChannelOptions channel = local_channel(*plan.instance, plan.model_id);
  channel.name = free_name(channel.name, config.channels,
                           [](const route::ChannelOptions& one) { return one.name; });
  config.channels.push_back(std::move(channel));
}

}  // namespace

Result<UpPlan> plan_up(const UpRequest& request, std::vector<config::Problem>& problems) {
  report_strays(request, problems);
  ReadGatewayFile gateway = read_settings(request);
  config::ConfigSources engine_sources = sources_of(request, engine_options());
  if (request.engine == EmbeddedEngine::kGpuModel) {
    engine_sources.flags.push_back({"model.backend", "gpu-model"});
  }
  ReadEngineFile engine = read_engine_file(engine_sources);
  for (config::Problem& one : gateway.problems) problems.push_back(std::move(one));
  for (config::Problem& one : engine.problems) problems.push_back(std::move(one));
  if (!problems.empty()) return fail(ErrorCode::kConfig, "");

  Result<DataDir> dir = DataDir::open(request.data_dir);
  if (!dir.has_value()) return fail(dir.error());
  UpPlan plan(std::move(*dir));
  Result<std::string> key = plan.dir.secret("key", "hw-");
  if (!key.has_value()) return fail(key.error());
  Result<std::string> admin_token = plan.dir.secret("admin_token", "hw-admin-");
  if (!admin_token.has_value()) return fail(admin_token.error());
  plan.api_key = std::move(*key);
  plan.admin_token = std::move(*admin_token);
  if (request.engine != EmbeddedEngine::kNone) {
    Result<InstancePlan> instance = plan_instance(request, engine.config);
    if (!instance.has_value()) return fail(instance.error());
    plan.instance = std::move(*instance);
    plan.model_id = engine.config.model.model_id;
  }
  plan.config = std::move(gateway.config);
  add_own(request, plan, plan.config);
  return plan;
}

ReadGatewayFile read_again(const UpRequest& request, const UpPlan& plan) {
  ReadGatewayFile out = read_settings(request);
  if (out.problems.empty()) add_own(request, plan, out.config);
  return out;
}

}  // namespace hw::app
