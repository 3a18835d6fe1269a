#include "console/api.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "access/key_sources.h"
#include "console/call_routes.h"
#include "json/check.h"

using namespace hw;
using namespace hw::console;

namespace {

constexpr std::string_view kToken = "admin-token-0123456789";

timeline::Call call_of(std::string_view key, std::string_view model) {
  FakeClock clock;
  Random random(42);
  timeline::Call out;
  out.id = RequestId::make(clock.wall(), random);
  out.trace = TraceId::make(random);
  out.key = std::string(key);
  out.model = std::string(model);
  out.outcome = Outcome::kOk;
  out.status = 200;
  return out;
}

// A console whose store is a few vectors.
struct Fixture {
  FakeClock clock;
  std::string token = std::string(kToken);
  std::vector<timeline::Call> calls = {call_of("dev", "m"), call_of("app", "m")};
  std::vector<store::StoredKey> stored;
  std::vector<access::DeclaredKey> declared = {{"dev", "dev-secret", {"*"}}};
  store::CallQuery asked;
  std::string next;
  int changes = 0;
  std::shared_ptr<const route::Catalogue> catalogue;

  Fixture() {
    route::ChannelOptions channel;
    channel.name = "local";
    std::string note;
    channel.base_url = *route::parse_base_url("http://127.0.0.1:8000/v1", Family::kOpenai, note);
    channel.credential = "upstream-secret";
    channel.serves.add(route::Endpoint::kChat);
    channel.models = {"m"};
    channel.model_map = {{"gpt-*", "m"}};
    catalogue = std::make_shared<const route::Catalogue>(
        std::vector<route::ChannelOptions>{std::move(channel)});
  }

  ApiSources sources() {
    ApiSources out;
    out.find_calls = [this](std::string_view) -> Result<std::vector<timeline::Call>> {
      return calls;
    };
    out.list_calls = [this](const store::CallQuery& query) -> Result<store::CallPage> {
      asked = query;
      return store::CallPage{calls, next};
    };
    out.list_keys = [this]() -> Result<std::vector<store::StoredKey>> { return stored; };
    out.create_key = [this](std::string_view name, const std::vector<std::string>& models) {
      return create(name, models);
    };
    out.set_key_state = [this](std::string_view id, store::KeyState state) {
      return set_state(id, state);
    };
    out.remove_key = [this](std::string_view id) -> Status {
      const size_t before = stored.size();
      std::erase_if(stored, [&](const store::StoredKey& key) { return key.id == id; });
      if (stored.size() == before) return fail(ErrorCode::kNotFound, "There is no such key.");
      return {};
    };
    out.keys_changed = [this] { ++changes; };
    out.admin_token = [this] { return token; };
    out.keys = [this] { return access::make_key_snapshot(declared, stored); };
    out.declared_keys = [this] { return declared; };
    out.catalogue = [this] { return catalogue; };
    out.clock = &clock;
    return out;
  }

  Result<store::CreatedKey> create(std::string_view name, const std::vector<std::string>& models) {
    store::CreatedKey made;
    made.key.id = "key_1";
    made.key.name = std::string(name);
    made.key.prefix = "hw-12345";
    made.key.models = models;
    made.secret = "hw-12345-the-secret";
    made.key.sha256 = access::sha256(made.secret);
    stored.push_back(made.key);
    return made;
  }

  Result<store::StoredKey> set_state(std::string_view id, store::KeyState state) {
    for (store::StoredKey& key : stored) {
      if (key.id != id && key.name != id) continue;
      key.state = state;
      return key;
    }
    return fail(ErrorCode::kNotFound, "There is no such key.");
  }

  ApiResponse ask(std::string_view method, std::string_view path, std::string_view secret = kToken,
                  std::string_view body = {}, std::string_view query = {}) {
    const std::string value = "Bearer " + std::string(secret);
    const access::Presented one{access::CredentialSource::kAuthorization, value};
    ApiRequest request;
    request.method = method, request.path = path, request.query = query, request.body = body;
    if (!secret.empty()) request.credentials = std::span(&one, 1);
    const ApiResponse answer = Api(sources()).handle(request);
    CHECK(json::is_json_object(answer.body));
    CHECK(answer.body.ends_with('\n'));
    return answer;
  }
};

bool has(const ApiResponse& answer, std::string_view text) {
  return answer.body.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("the admin token opens everything, by either header") {
  Fixture fixture;
  CHECK(fixture.ask("GET", "/api/calls").status == 200);
  CHECK(fixture.ask("GET", "/api/calls/req_x").status == 200);
  CHECK(fixture.ask("GET", "/api/keys").status == 200);
  CHECK(fixture.ask("GET", "/api/channels/").status == 200);
  const access::Presented header{access::CredentialSource::kApiKey, kToken};
  ApiRequest request;
  request.method = "GET", request.path = "/api/keys", request.credentials = std::span(&header, 1);
  CHECK(Api(fixture.sources()).handle(request).status == 200);
}

TEST_CASE("nobody without the token gets further than the door, and learns no path") {
  Fixture fixture;
  for (const char* path : {"/api/calls", "/api/keys", "/api/channels", "/api/nothing"}) {
    for (const char* secret : {"", "wrong", "admin-token-012345678"}) {
      CAPTURE(path);
      const ApiResponse answer = fixture.ask("GET", path, secret);
      CHECK(answer.status == 401);
      CHECK(has(answer, "admin token"));
    }
    CHECK(fixture.ask("GET", path, "dev-secret").status == 403);
  }
  CHECK(fixture.ask("DELETE", "/api/keys/key_1", "dev-secret").status == 403);
}

TEST_CASE("a key reads its own calls, and a call of another looks like none") {
  Fixture fixture;
  const ApiResponse own = fixture.ask("GET", "/api/calls/some-id", "dev-secret");
  CHECK(own.status == 200);
  CHECK(has(own, "\"key\":\"dev\""));
  fixture.calls = {call_of("app", "m")};
  const ApiResponse other = fixture.ask("GET", "/api/calls/some-id", "dev-secret");
  fixture.calls.clear();
  const ApiResponse none = fixture.ask("GET", "/api/calls/some-id", "dev-secret");
  CHECK(other.status == 404);
  CHECK(other.body == none.body);
}

TEST_CASE("without an admin token the API is closed, own calls apart") {
  Fixture fixture;
  fixture.token.clear();
  CHECK(fixture.ask("GET", "/api/keys", "").status == 403);
  CHECK(has(fixture.ask("GET", "/api/calls", "x"), "gateway.admin_token"));
  CHECK(fixture.ask("GET", "/api/calls/some-id", "dev-secret").status == 200);
}

TEST_CASE("calls are listed with their filters and the page that follows") {
  Fixture fixture;
  fixture.next = "req_next";
  const ApiResponse answer =
      fixture.ask("GET", "/api/calls", kToken, {},
                  "?limit=7&before=req_a&outcome=client_gone&model=a%2Fb&key=k&channel=c"
                  "&since=15m&slow_ms=1000");
  CHECK(answer.status == 200);
  CHECK(has(answer, "\"next\":\"req_next\""));
  CHECK(fixture.asked.limit == 7);
  CHECK(fixture.asked.before == "req_a");
  CHECK(fixture.asked.outcome == Outcome::kClientGone);
  CHECK(fixture.asked.model == "a/b");
  CHECK(fixture.asked.key == "k");
  CHECK(fixture.asked.channel == "c");
  CHECK(fixture.asked.since_wall == fixture.clock.wall() - 900 * kSecond);
  CHECK(fixture.asked.slow_ns == kSecond);
  fixture.next.clear();
  CHECK(has(fixture.ask("GET", "/api/calls"), "\"next\":null"));
}

TEST_CASE("a filter that cannot be read names the parameter and what it takes") {
  for (const char* query : {"limit=0", "limit=1001", "limit=x", "outcome=fine", "since=yesterday",
                            "slow_ms=-1", "slow_ms=fast", "color=red"}) {
    CAPTURE(query);
    const Result<store::CallQuery> parsed = parse_call_query(query, 0);
    REQUIRE_FALSE(parsed.has_value());
    const std::string_view text = query;
    const std::string_view name = text.substr(0, text.find('='));
    CHECK(parsed.error().message.find(name) != std::string::npos);
    CHECK(parsed.error().code == ErrorCode::kBadRequest);
  }
}

TEST_CASE("a key is made, shown once, disabled, enabled and deleted") {
  Fixture fixture;
  const ApiResponse made =
      fixture.ask("POST", "/api/keys", kToken, R"({"name":"app","models":["m","claude-*"]})");
  CHECK(made.status == 201);
  CHECK(has(made, "\"secret\":\"hw-12345-the-secret\""));
  CHECK(has(made, "\"models\":[\"m\",\"claude-*\"]"));
  const ApiResponse listed = fixture.ask("GET", "/api/keys");
  CHECK(has(listed, "\"name\":\"app\""));
  CHECK(has(listed, "\"origin\":\"declared\""));
  CHECK_FALSE(has(listed, "the-secret"));
  CHECK_FALSE(has(listed, "dev-secret"));
  CHECK(has(fixture.ask("POST", "/api/keys/key_1/disable"), "\"state\":\"disabled\""));
  CHECK(has(fixture.ask("POST", "/api/keys/app/enable"), "\"state\":\"active\""));
  CHECK(has(fixture.ask("DELETE", "/api/keys/key_1"), "\"deleted\":\"key_1\""));
  CHECK(fixture.ask("DELETE", "/api/keys/key_1").status == 404);
  CHECK(fixture.changes == 4);
}

TEST_CASE("without the field models a new key may use all") {
  Fixture fixture;
  CHECK(has(fixture.ask("POST", "/api/keys", kToken, R"({"name":"app"})"), "\"models\":[\"*\"]"));
}

TEST_CASE("a new key that cannot be made is refused in words") {
  Fixture fixture;
  for (const char* body :
       {"", "[]", "{", "{}", R"({"name":""})", R"({"name":5})", R"({"name":"a","models":"m"})",
        R"({"name":"a","models":[1]})", R"({"name":"a","models":[]})",
        R"({"name":"a","models":[""]})", R"({"name":"a","models":["a*b"]})",
        R"({"name":"a","modles":["m"]})", R"({"name":"dev"})"}) {
    CAPTURE(body);
    CHECK(fixture.ask("POST", "/api/keys", kToken, body).status == 400);
  }
  CHECK(fixture.ask("POST", "/api/keys", kToken, std::string(kApiBodyBytesMax + 1, ' ')).status ==
        413);
  CHECK(fixture.stored.empty());
  CHECK(fixture.changes == 0);
}

TEST_CASE("a declared key is changed in the file only") {
  Fixture fixture;
  CHECK(has(fixture.ask("POST", "/api/keys/dev/disable"), "configuration file"));
  CHECK(fixture.ask("DELETE", "/api/keys/dev").status == 400);
}

TEST_CASE("channels show settings and health, and no credential") {
  Fixture fixture;
  ApiResponse answer = fixture.ask("GET", "/api/channels");
  CHECK(has(answer, "\"base_url\":\"http://127.0.0.1:8000/v1\""));
  CHECK(has(answer, "\"credential\":\"set\""));
  CHECK(has(answer, "\"serves\":[\"chat\"]"));
  CHECK(has(answer, "\"state\":\"ready\""));
  CHECK_FALSE(has(answer, "upstream-secret"));
  route::Health& health = *fixture.catalogue->channels()[0]->health;
  health.cool_down(fixture.clock.monotonic(), 12 * kSecond, 429);
  answer = fixture.ask("GET", "/api/channels");
  CHECK(has(answer, "\"state\":\"cooling_down\""));
  CHECK(has(answer, "\"cooling_ms\":12000"));
  health.mark_credential(fixture.clock.monotonic(), 401);
  CHECK(has(fixture.ask("GET", "/api/channels"), "\"state\":\"credential_refused\""));
}

TEST_CASE("a wrong path or method says what would have been right") {
  Fixture fixture;
  for (const char* path :
       {"/api", "/api/", "/api//", "/api/call", "/api/calls/a/b", "/api/keys/a/b",
        "/api/channels/local", "/apix/calls", "/api/keys/a/disable/b"}) {
    CAPTURE(path);
    CHECK(fixture.ask("GET", path).status == 404);
  }
  const ApiResponse answer = fixture.ask("DELETE", "/api/calls");
  CHECK(answer.status == 405);
  CHECK(answer.allow == "GET");
  CHECK(fixture.ask("PUT", "/api/keys").allow == "GET, POST");
  CHECK(fixture.ask("GET", "/api/keys/a/disable").allow == "POST");
}
