#include "app/up_plan.h"

#include <unistd.h>

#include <algorithm>

#include "app/engine_file.h"
#include "base/text.h"
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
  if (const Status there = find_model(engine); !there) return fail(there.error());
  InstancePlan out;
  out.program = request.program;
  if (is_set(request, "server", "port") && engine.server.port != 0) {
    out.port = engine.server.port;
  } else {
    const Result<uint16_t> port = free_port();
    if (!port.has_value()) return fail(port.error());
    out.port = *port;
  }
  out.arguments = {"engine"};
  for (const config::OptionFlag& flag : flags_of(engine_options(), request.flags)) {
    if (flag.name == "server.port" || flag.name == "server.host") continue;
    out.arguments.push_back(concat("--", flag.name, "=", flag.value));
  }
  out.arguments.push_back(concat("--server.host=", out.host));
  out.arguments.push_back(concat("--server.port=", out.port));
  return out;
}

}  // namespace

Result<UpPlan> plan_up(const UpRequest& request, std::vector<config::Problem>& problems) {
  report_strays(request, problems);
  ReadGatewayFile gateway = read_gateway_file(sources_of(request, gateway_options()));
  ReadEngineFile engine = read_engine_file(sources_of(request, engine_options()));
  for (config::Problem& one : gateway.problems) problems.push_back(std::move(one));
  for (config::Problem& one : engine.problems) problems.push_back(std::move(one));
  if (!problems.empty()) return fail(ErrorCode::kConfig, "");

  Result<DataDir> dir = DataDir::open(request.data_dir);
  if (!dir.has_value()) return fail(dir.error());
  UpPlan plan(std::move(*dir));
  const Result<std::string> key = plan.dir.secret("key", "hw-");
  if (!key.has_value()) return fail(key.error());
  const Result<std::string> admin_token = plan.dir.secret("admin_token", "hw-admin-");
  if (!admin_token.has_value()) return fail(admin_token.error());

  plan.api_key = *key;
  plan.config = std::move(gateway.config);
  plan.config.keys.push_back({std::string(kKeyName), *key, {"*"}});
  if (plan.config.gateway.admin_token.empty()) plan.config.gateway.admin_token = *admin_token;
  if (!is_set(request, "store", "path")) plan.config.store.path = plan.dir.database();
  if (request.port.has_value()) plan.config.gateway.listen_port = *request.port;
  if (request.engine == EmbeddedEngine::kNone) return plan;

  Result<InstancePlan> instance = plan_instance(request, engine.config);
  if (!instance.has_value()) return fail(instance.error());
  plan.model_id = engine.config.model.model_id;
  plan.config.channels.push_back(local_channel(*instance, plan.model_id));
  plan.instance = std::move(*instance);
  return plan;
}

}  // namespace hw::app
