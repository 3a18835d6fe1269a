#include "setup/codex.h"

#include <doctest/doctest.h>

#include "setup/examined.h"

using namespace hw;
using namespace hw::settings;
using namespace hw::setup;

namespace {

constexpr const char* kFile = "/h/.codex/config.toml";
constexpr const char* kEnv = "/h/.codex/.env";

// A good configuration with a further line at its end (line 9).
std::string toml(const std::string& more = "") {
  return "model = \"m\"\nmodel_provider = \"headway\"\n[model_providers.headway]\n"
         "base_url = \"http://127.0.0.1:8080/v1\"\nenv_key = \"HEADWAY_API_KEY\"\n"
         "wire_api = \"responses\"\nrequest_max_retries = 2\nstream_max_retries = 2\n" +
         more;
}

Machine machine(const std::string& text) {
  Machine out(Client::kCodex);
  out.file(kFile, text);
  out.file(kEnv, "HEADWAY_API_KEY=hw-0123456789\n");
  return out;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("Codex: a good set-up is found good, with the key in .env or in the shell") {
  CHECK(machine(toml()).found() == "");
  Machine shell(Client::kCodex);
  shell.file(kFile, toml()).variable("HEADWAY_API_KEY", "hw-0123456789");
  CHECK(shell.found() == "");
}

TEST_CASE("Codex: without a file it is not set up") {
  CHECK(Machine(Client::kCodex).found() ==
        "wrong not_configured /h/.codex/config.toml:0 -> headway config codex --write\n");
}

TEST_CASE("Codex: the chat wire and a profile keep it from starting") {
  CHECK(machine(with(toml(), "responses", "chat")).found() ==
        "wrong wire_chat /h/.codex/config.toml:6 -> wire_api = \"responses\"\n");
  CHECK(machine("profile = \"x\"\n" + toml()).found() ==
        "wrong profile_refused /h/.codex/config.toml:1 -> - profile\n");
}

TEST_CASE("Codex: a provider that is not chosen, or does not exist") {
  CHECK(machine(with(toml(), "\"headway\"\n", "\"openai\"\n")).found() ==
        "wrong provider_not_selected /h/.codex/config.toml:2 -> model_provider = \"headway\"\n");
  CHECK(machine("model_provider = \"nowhere\"\n").found() ==
        "wrong provider_unknown /h/.codex/config.toml:1 -> headway config codex --write\n");
}

TEST_CASE("Codex: no key, and .env winning over the shell") {
  Machine none(Client::kCodex);
  none.file(kFile, toml());
  CHECK(none.found() == "wrong key_missing environment:0 -> export HEADWAY_API_KEY=YOUR_KEY\n");
  Machine both = machine(toml());
  both.variable("HEADWAY_API_KEY", "another");
  CHECK(both.examine().key.value == "hw-0123456789");
  CHECK(machine(with(toml(), "env_key = \"HEADWAY_API_KEY\"\n", "")).found() ==
        "wrong key_missing /h/.codex/config.toml:3 -> headway config codex --write\n");
}

TEST_CASE("Codex: URL, time-out, retries, headers, login and proxy are judged") {
  CHECK(machine(with(toml(), "8080/v1", "8080")).found() ==
        "risk base_url_v1_missing /h/.codex/config.toml:4 -> "
        "base_url = \"http://127.0.0.1:8080/v1\"\n");
  CHECK(machine(toml("stream_idle_timeout_ms = 5000\n")).found() ==
        "risk timeout_short /h/.codex/config.toml:9 -> stream_idle_timeout_ms = 600000\n");
  CHECK(machine(toml("http_headers = { Authorization = \"Bearer x\" }\n")).found() ==
        "risk header_credential /h/.codex/config.toml:9 -> - Authorization\n");
  Machine login = machine(toml());
  login.file("/h/.codex/auth.json", "{\"tokens\": {\"refresh_token\": \"r\"}}");
  CHECK(login.found() == "note login_and_key /h/.codex/auth.json:0 -> codex logout\n");
  Machine proxy = machine(toml());
  proxy.variable("all_proxy", "socks5://127.0.0.1:1080");
  CHECK(proxy.found() ==
        "wrong proxy_catches_gateway environment:0 -> "
        "export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1\n");
  const Examination many = machine(with(toml(), "request_max_retries = 2\n", "")).examine();
  REQUIRE(many.findings.size() == 1);
  CHECK(many.findings[0].code == Code::kRetriesHide);
  CHECK(many.findings[0].arguments[1] == "15");
  CHECK(many.findings[0].change == "request_max_retries = 2");
}

TEST_CASE("Codex: a broken file is named with its line") {
  CHECK(machine("model = \n").examine().findings[0].place.line == 1);
}
