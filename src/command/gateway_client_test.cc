#include "command/gateway_client.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "app/data_dir.h"

using namespace hw;
using namespace hw::cli;

namespace {

// A folder that a `headway up` on port 9 has left.
struct RunningUp {
  std::string path = "/tmp/headway-client-" + std::to_string(::getpid());
  std::string key, token;
  RunningUp() {
    app::DataDir dir = *app::DataDir::open(path);
    key = *dir.secret("key", "hw-");
    token = *dir.secret("admin_token", "hw-admin-");
    CHECK(dir.write_address("http://127.0.0.1:9").has_value());
  }
  ~RunningUp() { std::filesystem::remove_all(path); }
};

GatewayPlace place(std::map<std::string, std::string, std::less<>> values) {
  Arguments arguments;
  arguments.values = std::move(values);
  return find_gateway(arguments);
}

}  // namespace

TEST_CASE("a running `headway up` is found through its folder") {
  const RunningUp up;
  const GatewayPlace found = place({{"data", up.path}});
  CHECK(found.base_url == "http://127.0.0.1:9");
  CHECK(found.token == up.token);
}

TEST_CASE("without anything the gateway is on port 8080") {
  const GatewayPlace found = place({{"data", "/nonexistent"}});
  CHECK(found.base_url == "http://127.0.0.1:8080");
  CHECK(found.token.empty());
}

TEST_CASE("the folder's secrets go to the folder's gateway only") {
  const RunningUp up;
  CHECK(place({{"data", up.path}, {"base-url", "http://elsewhere:8080"}}).token.empty());
  CHECK(place({{"data", up.path}, {"base-url", "http://127.0.0.1:9/v1/"}}).token == up.token);
}

TEST_CASE("what is given wins: base URL with or without /v1, admin token before key") {
  const RunningUp up;
  for (const char* url : {"http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"}) {
    CHECK(place({{"data", up.path}, {"base-url", url}}).base_url == "http://h:1");
  }
  CHECK(place({{"data", up.path}, {"admin-token", "t"}, {"api-key", "k"}}).token == "t");
  CHECK(place({{"data", "/nonexistent"}, {"api-key", "k"}}).token == "k");
}

TEST_CASE("percent-encoding leaves only unreserved characters") {
  CHECK(percent_encode("req_1-a.b~c") == "req_1-a.b~c");
  CHECK(percent_encode("a/b c?&=%") == "a%2Fb%20c%3F%26%3D%25");
  CHECK(percent_encode("时") == "%E6%97%B6");
}
