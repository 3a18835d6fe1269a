#include "setup/cline.h"

#include <doctest/doctest.h>

#include "setup/examined.h"

using namespace hw;
using namespace hw::settings;
using namespace hw::setup;

namespace {

constexpr const char* kFile = "/h/.cline/data/settings/providers.json";

// One provider, from line 5 on; `more` is put into its settings.
std::string providers(const std::string& name, const std::string& more = "",
                      const std::string& chosen = "") {
  return "{\n  \"version\": 1,\n  \"lastUsedProvider\": \"" + (chosen.empty() ? name : chosen) +
         "\",\n  \"providers\": {\n    \"" + name +
         "\": {\n      \"settings\": {\n        \"provider\": \"" + name +
         "\",\n        \"baseUrl\": \"http://127.0.0.1:8080/v1\",\n        \"apiKey\": "
         "\"hw-0123456789\",\n        \"model\": \"m\"" +
         more + "\n      },\n      \"updatedAt\": \"2026-01-01T00:00:00.000Z\"\n    }\n  }\n}\n";
}

std::string found(const std::string& text) {
  return Machine(Client::kCline).file(kFile, text).found();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("Cline: a good set-up is found good, for each of its three providers") {
  for (const char* name : {"openai-compatible", "openai-native", "anthropic"}) {
    CHECK(found(providers(name)) == "");
  }
}

TEST_CASE("Cline: without a file, or with its own account, it is not set up") {
  CHECK(Machine(Client::kCline).found() ==
        std::string("wrong not_configured ") + kFile + ":0 -> headway config cline --write\n");
  CHECK(found("{\"version\": 1, \"lastUsedProvider\": \"cline\", \"providers\": {}}") ==
        std::string("wrong provider_unknown ") + kFile + ":1 -> headway config cline --write\n");
}

TEST_CASE("Cline: providers that do not lead to the gateway") {
  CHECK(found(providers("openai")) == std::string("wrong provider_fixed ") + kFile +
                                          ":3 -> \"lastUsedProvider\": \"openai-compatible\"\n");
  CHECK(found(providers("anthropic", "", "openrouter")) ==
        std::string("wrong provider_not_selected ") + kFile +
            ":3 -> \"lastUsedProvider\": \"anthropic\"\n");
}

TEST_CASE("Cline: an entry that lacks a field makes it ignore the file, and is named") {
  CHECK(found(with(providers("anthropic"), "\"updatedAt\"", "\"updated\"")) ==
        std::string("wrong entry_broken ") + kFile +
            ":5 -> \"updatedAt\": \"2026-01-01T00:00:00.000Z\"\n");
  CHECK(found(with(providers("anthropic"), "\"version\": 1", "\"version\": 2")) ==
        std::string("wrong entry_broken ") + kFile + ":1 -> \"version\": 1\n");
}

TEST_CASE("Cline: URL, key, model, time-out, login and mode are judged") {
  CHECK(found(with(providers("anthropic"), "8080/v1", "8080")) ==
        std::string("risk base_url_v1_missing ") + kFile +
            ":8 -> \"baseUrl\": \"http://127.0.0.1:8080/v1\"\n");
  CHECK(found(with(providers("anthropic"), "hw-0123456789", "hw-0123")) ==
        std::string("wrong key_cut ") + kFile + ":9 -> headway config cline --write\n");
  CHECK(found(with(providers("anthropic"), "\"model\"", "\"modell\"")) ==
        std::string("risk model_missing ") + kFile + ":6 -> \"model\": \"m\"\n");
  CHECK(found(providers("anthropic", ",\n        \"timeout\": 30000")) ==
        std::string("risk timeout_short ") + kFile + ":11 -> \"timeout\": \"600000\"\n");
  CHECK(found(providers("anthropic", ",\n        \"auth\": {\"accessToken\": \"t\"}")) ==
        std::string("note login_and_key ") + kFile + ":11 -> - \"auth\"\n");
  CHECK(Machine(Client::kCline).file(kFile, providers("anthropic"), 0640).found() ==
        std::string("risk file_open ") + kFile + ":0 -> chmod 600 " + kFile + "\n");
}
