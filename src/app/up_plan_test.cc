#include "app/up_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "app/scratch_folder.h"

using namespace hw;
using namespace hw::app;

namespace {

struct Fixture {
  ScratchFolder scratch;
  UpRequest request;
  std::vector<config::Problem> problems;

  Fixture() {
    std::ofstream(scratch.file("model.gguf")) << "x";
    request.program = "/bin/headway";
    request.data_dir = scratch.file("data");
    request.flags = {{"model.path", scratch.file("model.gguf")}};
  }
  Result<UpPlan> plan() { return plan_up(request, problems); }
};

bool has(const std::vector<std::string>& list, std::string_view one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

TEST_CASE("a plan has a key, a token, a store in its folder and one channel to the instance") {
  Fixture fixture;
  fixture.request.port = 0;
  const Result<UpPlan> plan = fixture.plan();
  REQUIRE(plan.has_value());
  CHECK(plan->config.gateway.listen_port == 0);
  CHECK(plan->config.gateway.admin_token.starts_with("hw-admin-"));
  CHECK(plan->config.store.path == fixture.request.data_dir + "/headway.db");
  REQUIRE(plan->config.keys.size() == 1);
  CHECK(plan->config.keys[0].secret == plan->api_key);
  REQUIRE(plan->instance.has_value());
  REQUIRE(plan->config.channels.size() == 1);
  const route::ChannelOptions& channel = plan->config.channels[0];
  CHECK(channel.base_url.instance() == "127.0.0.1:" + std::to_string(plan->instance->port));
  CHECK(channel.base_url.path == "/v1");
  CHECK(channel.models == std::vector<std::string>{plan->model_id});
  CHECK(plan->instance->arguments[0] == "engine");
  CHECK(has(plan->instance->arguments, "--server.port=" + std::to_string(plan->instance->port)));
  CHECK(has(plan->instance->arguments, "--model.path=" + fixture.scratch.file("model.gguf")));
  CHECK(fixture.plan()->api_key == plan->api_key);
}

TEST_CASE("flags and variables reach gateway and instance, and win over the folder") {
  Fixture fixture;
  fixture.request.flags.push_back({"gateway.drain_s", "5"});
  fixture.request.flags.push_back({"model.model_id", "mine"});
  fixture.request.environment = {{"HEADWAY_STORE_PATH", "/elsewhere.db"},
                                 {"HEADWAY_GATEWAY_ADMIN_TOKEN", "given"},
                                 {"HEADWAY_SERVER_PORT", "8123"}};
  const Result<UpPlan> plan = fixture.plan();
  REQUIRE(plan.has_value());
  CHECK(plan->config.gateway.drain_s == 5);
  CHECK(plan->config.gateway.listen_port == 8080);
  CHECK(plan->config.gateway.admin_token == "given");
  CHECK(plan->config.store.path == "/elsewhere.db");
  CHECK(plan->model_id == "mine");
  CHECK(plan->instance->port == 8123);
  CHECK_FALSE(has(plan->instance->arguments, "--gateway.drain_s=5"));
}

TEST_CASE("without an engine there is no channel and no instance") {
  Fixture fixture;
  fixture.request.engine = EmbeddedEngine::kNone;
  fixture.request.flags.clear();
  const Result<UpPlan> plan = fixture.plan();
  REQUIRE(plan.has_value());
  CHECK_FALSE(plan->instance.has_value());
  CHECK(plan->config.channels.empty());
  CHECK(plan->model_id.empty());
}

TEST_CASE("a missing model is told with the command that gets it") {
  Fixture fixture;
  fixture.request.flags.clear();
  ::setenv("XDG_CACHE_HOME", fixture.scratch.path().c_str(), 1);
  const Result<UpPlan> by_default = fixture.plan();
  ::unsetenv("XDG_CACHE_HOME");
  REQUIRE_FALSE(by_default.has_value());
  CHECK(by_default.error().message.find("scripts/get-model.sh") != std::string::npos);
  fixture.request.flags = {{"model.path", "/nonexistent.gguf"}};
  CHECK(fixture.plan().error().message.find("/nonexistent.gguf") != std::string::npos);
}

TEST_CASE("all mistakes in flags and variables are reported at once, and nothing is made") {
  Fixture fixture;
  fixture.request.flags.push_back({"gateway.thread", "1"});
  fixture.request.flags.push_back({"model.max_tokens", "0"});
  fixture.request.flags.push_back({"nothing.at_all", "0"});
  fixture.request.environment = {{"HEADWAY_GATEWAY_DRAIN_S", "soon"}};
  CHECK_FALSE(fixture.plan().has_value());
  CHECK(fixture.problems.size() == 4);
  CHECK_FALSE(std::filesystem::exists(fixture.request.data_dir));
}

TEST_CASE("a file adds channels and keys beside the plan's own, also when it is read again") {
  Fixture fixture;
  fixture.request.config_file = fixture.scratch.file("headway.toml");
  std::ofstream(fixture.request.config_file)
      << "[gateway]\nadmin_token = \"mine\"\n"
         "[[channels]]\nname = \"local\"\ndialect = \"openai\"\nbase_url = \"http://h:1/v1\"\n"
         "models = [\"far\"]\n"
         "[[keys]]\nname = \"dev\"\nsecret = \"s\"\n";
  const Result<UpPlan> plan = fixture.plan();
  REQUIRE(plan.has_value());
  for (const GatewayFile& config : {plan->config, read_again(fixture.request, *plan).config}) {
    CHECK(config.gateway.admin_token == "mine");
    REQUIRE(config.channels.size() == 2);
    CHECK(config.channels[0].models == std::vector<std::string>{"far"});
    CHECK(config.channels[1].name == "local-up");
    REQUIRE(config.keys.size() == 2);
    CHECK(config.keys[1].name == "dev-up");
    CHECK(config.keys[1].secret == plan->api_key);
  }
  std::ofstream(fixture.request.config_file) << "broken";
  CHECK_FALSE(read_again(fixture.request, *plan).problems.empty());
  fixture.request.config_file = "/nonexistent.toml";
  CHECK_FALSE(fixture.plan().has_value());
  CHECK(fixture.problems.size() == 1);
}
