#include <doctest/doctest.h>

#include "app/answering_server.h"
#include "cli/commands.h"

using namespace hw;
using namespace hw::cli;

namespace {

std::string answer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

const std::string kMade = answer("201 Created", R"({"id":"key_1","name":"app","secret":"hw-1"})");

Exit create(const app::AnsweringServer& gateway,
            std::map<std::string, std::string, std::less<>> more) {
  Arguments arguments;
  arguments.values = std::move(more);
  arguments.values["name"] = "app";
  arguments.values["json"] = "";
  arguments.values["data"] = "/nonexistent";
  arguments.values["base-url"] = "http://127.0.0.1:" + std::to_string(gateway.port());
  return key_create_command().run(arguments);
}

}  // namespace

TEST_CASE("a list of models with nothing in it makes no key for all models") {
  const app::AnsweringServer gateway(kMade);
  for (const char* models : {"", ",", " , ,"}) {
    CAPTURE(models);
    CHECK(create(gateway, {{"models", models}}) == Exit::kUsage);
  }
  CHECK(create(gateway, {{"models", "a,"}}) == Exit::kFine);
  CHECK(create(gateway, {}) == Exit::kFine);
}

TEST_CASE("a gateway that cannot make the key now is told apart from one that refuses") {
  const std::string body = R"({"error":{"message":"The database is locked"}})";
  CHECK(create(app::AnsweringServer(answer("503 Service Unavailable", body)), {}) ==
        Exit::kUnreachable);
  CHECK(create(app::AnsweringServer(answer("400 Bad Request", body)), {}) == Exit::kUsage);
}
