#include "app/gateway_system.h"

#include <doctest/doctest.h>

#include <thread>

#include "app/answering_server.h"
#include "app/http_request.h"
#include "app/scratch_folder.h"
#include "base/log.h"

using namespace hw;
using namespace hw::app;

namespace {

// A whole answer of an upstream.
std::string completion() {
  const std::string body = R"({"id":"c","object":"chat.completion","choices":[],)"
                           R"("usage":{"prompt_tokens":3,"completion_tokens":4}})";
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// A gateway on a free port, run by a thread of its own, with one channel to a server of fixed
// answers.
struct Fixture {
  ScratchFolder scratch;
  AnsweringServer upstream{completion()};
  std::unique_ptr<GatewaySystem> system;
  std::thread thread;

  Fixture() {
    set_log_level(LogLevel::kError);
    Result<std::unique_ptr<GatewaySystem>> opened = GatewaySystem::open(config());
    REQUIRE(opened.has_value());
    system = std::move(*opened);
    thread = std::thread([this] { system->run(); });
  }
  ~Fixture() {
    system->stop();
    thread.join();
    set_log_level(LogLevel::kInfo);
  }

  GatewayFile config() {
    GatewayFile out;
    out.gateway.listen_port = 0;
    out.gateway.threads = 1;
    out.gateway.drain_s = 1;
    out.gateway.admin_token = "the-admin-token";
    out.store.path = scratch.file("headway.db");
    out.store.journal_bytes = 1 << 20;
    out.keys = {{"dev", "dev-secret", {"*"}}};
    route::ChannelOptions channel;
    channel.name = "local";
    channel.base_url.host = "127.0.0.1";
    channel.base_url.port = upstream.port();
    channel.base_url.path = "/v1";
    channel.serves = route::EndpointSet::all_of(Family::kOpenai);
    channel.models = {"m"};
    out.channels = {channel};
    return out;
  }

  HttpAnswer ask(std::string method, std::string target, const std::string& secret,
                 std::string body = {}) {
    Url url;
    url.host = "127.0.0.1";
    url.port = system->port();
    HttpRequest request;
    request.method = std::move(method), request.target = std::move(target);
    if (!secret.empty()) request.headers.emplace_back("Authorization", "Bearer " + secret);
    request.body = std::move(body);
    if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    Result<HttpAnswer> answer = http_request(url, request);
    REQUIRE(answer.has_value());
    return *answer;
  }

  HttpAnswer chat(const std::string& secret, const std::string& model = "m") {
    return ask("POST", "/v1/chat/completions", secret,
               R"({"model":")" + model + R"(","messages":[]})");
  }

  // The same, once a change has reached the loop: it gets there by a posted task, and a request
  // that is on its way already may be served before it.
  HttpAnswer chat_after_change(int status, const std::string& secret,
                               const std::string& model = "m") {
    HttpAnswer answer = chat(secret, model);
    for (int i = 0; i < 1000 && answer.status != status; ++i) answer = chat(secret, model);
    return answer;
  }
};

// What follows `name": "` in a JSON text.
std::string text_field(const std::string& json, const std::string& name) {
  const size_t at = json.find("\"" + name + "\":\"");
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 4;
  return json.substr(begin, json.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("a configuration becomes a gateway that serves, records and shows") {
  Fixture fixture;
  CHECK(fixture.ask("GET", "/livez", "").status == 200);
  CHECK(fixture.ask("GET", "/readyz", "").body.find("ready") != std::string::npos);
  CHECK(fixture.chat("dev-secret").status == 200);
  CHECK(fixture.chat("wrong").status == 401);
  const HttpAnswer calls = fixture.ask("GET", "/api/calls?outcome=ok", "the-admin-token");
  CHECK(calls.status == 200);
  const std::string id = text_field(calls.body, "id");
  CHECK(id.starts_with("req_"));
  CHECK(fixture.ask("GET", "/api/calls/" + id, "dev-secret").status == 200);
  CHECK(fixture.ask("GET", "/api/calls", "dev-secret").status == 403);
  CHECK(fixture.ask("GET", "/api/calls", "").status == 401);
  CHECK(fixture.ask("GET", "/api/channels", "the-admin-token").body.find("\"local\"") !=
        std::string::npos);
}

TEST_CASE("a key made, disabled and deleted over the API counts soon after") {
  Fixture fixture;
  const HttpAnswer made =
      fixture.ask("POST", "/api/keys", "the-admin-token", R"({"name":"app","models":["m"]})");
  CHECK(made.status == 201);
  const std::string secret = text_field(made.body, "secret");
  CHECK(fixture.chat_after_change(200, secret).status == 200);
  CHECK(fixture.chat(secret, "other").status == 403);
  CHECK(fixture.ask("POST", "/api/keys/app/disable", "the-admin-token").status == 200);
  CHECK(fixture.chat_after_change(401, secret).body.find("is disabled") != std::string::npos);
  CHECK(fixture.ask("POST", "/api/keys/app/enable", "the-admin-token").status == 200);
  CHECK(fixture.chat_after_change(200, secret).status == 200);
  CHECK(fixture.ask("DELETE", "/api/keys/app", "the-admin-token").status == 200);
  CHECK(fixture.chat_after_change(401, secret).status == 401);
}

TEST_CASE("what the program does not have is 404 in JSON, whoever asks") {
  Fixture fixture;
  for (const char* path : {"/console", "/chat/x", "/docs/x", "/apix"}) {
    CAPTURE(path);
    for (const char* secret : {"", "dev-secret", "the-admin-token"}) {
      const HttpAnswer answer = fixture.ask("GET", path, secret);
      CHECK(answer.status == 404);
      CHECK(answer.body.find("\"unknown_route\"") != std::string::npos);
      CHECK(answer.body.find(path) != std::string::npos);
    }
  }
}

TEST_CASE("/docs is filled in with our address, and names models to who has a key only") {
  Fixture fixture;
  const HttpAnswer stranger = fixture.ask("GET", "/docs", "");
  CHECK(stranger.status == 200);
  CHECK(stranger.body.find("<html") != std::string::npos);
  CHECK(stranger.body.find("http://127.0.0.1:") != std::string::npos);
  CHECK(stranger.body.find("ANTHROPIC_BASE_URL") != std::string::npos);
  const std::string known = fixture.ask("GET", "/docs", "dev-secret").body;
  CHECK(known.size() != stranger.body.size());
}

TEST_CASE("a key made at run time is named by the rule of declared ones") {
  Fixture fixture;
  for (const char* name : {"two words", "a/b", ""}) {
    const std::string body = std::string(R"({"name":")") + name + "\"}";
    CHECK(fixture.ask("POST", "/api/keys", "the-admin-token", body).status == 400);
  }
  CHECK(fixture.ask("POST", "/api/keys", "the-admin-token", R"({"name":"me@home.org"})").status ==
        201);
}

TEST_CASE("a reload changes keys, channels and token, and names what takes a restart") {
  Fixture fixture;
  GatewayFile fresh = fixture.config();
  fresh.gateway.admin_token = "another-token";
  fresh.gateway.threads = 2;
  fresh.keys = {{"dev", "new-secret", {"*"}}};
  fresh.channels[0].models = {"renamed"};
  CHECK(fixture.system->reload(fresh).value() == std::vector<std::string>{"gateway.threads"});
  CHECK(fixture.chat_after_change(401, "dev-secret").status == 401);
  CHECK(fixture.chat("new-secret").status == 404);
  CHECK(fixture.chat("new-secret", "renamed").status == 200);
  CHECK(fixture.ask("GET", "/api/keys", "the-admin-token").status == 401);
  CHECK(fixture.ask("GET", "/api/keys", "another-token").status == 200);
  CHECK(fixture.system->reload(fresh).value() == std::vector<std::string>{"gateway.threads"});
}

TEST_CASE("a store that another gateway has open, and an address in use, are told") {
  Fixture fixture;
  const auto second = GatewaySystem::open(fixture.config());
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().message.find("open") != std::string::npos);
  GatewayFile elsewhere = fixture.config();
  const ScratchFolder other;
  elsewhere.store.path = other.file("headway.db");
  elsewhere.gateway.listen_host = "203.0.113.1";  // of nobody (RFC 5737)
  CHECK_FALSE(GatewaySystem::open(elsewhere).has_value());
}
