#include "setup/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "config/document.h"
#include "settings/json_tree.h"
#include "settings/toml_edit.h"

using namespace hw;
using namespace hw::settings;
using namespace hw::setup;

namespace {

constexpr const char* kFolder = "src/setup/testdata/";

// A file as it stood on somebody's machine, and for which dialect it is set up.
struct Case {
  Client client;
  std::string name;
  std::optional<Dialect> dialect = {};
  std::vector<std::string> allow = {};
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {Client::kClaudeCode, "claude_code/few_settings"},
      {Client::kClaudeCode, "claude_code/hooks_and_tabs", {}, {"Bash(git diff:*)", "WebSearch"}},
      {Client::kClaudeCode, "claude_code/other_gateway"},
      {Client::kClaudeCode, "claude_code/one_line", {}, {"Bash(make:*)"}},
      {Client::kClaudeCode, "claude_code/windows", {}, {"Bash(make:*)"}},
      {Client::kCodex, "codex/projects"},
      {Client::kCodex, "codex/mcp_servers"},
      {Client::kCodex, "codex/azure"},
      {Client::kCodex, "codex/inline_windows"},
      {Client::kCodex, "codex/earlier_gateway"},
      {Client::kCline, "cline/signed_in"},
      {Client::kCline, "cline/other_address"},
      {Client::kCline, "cline/many_providers", Dialect::kAnthropicMessages},
      {Client::kCline, "cline/one_line", Dialect::kOpenaiResponses},
      {Client::kCline, "cline/no_provider"},
  };
  return all;
}

Order order_of(const Case& one) {
  Order out;
  out.access = {"http://127.0.0.1:8080", "hw-0123456789abcdef", "smollm2-135m"};
  out.dialect = one.dialect;
  out.allow = one.allow;
  out.time = "2026-01-01T00:00:00.000Z";
  return out;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string path_of(const Case& one, std::string_view state) {
  const char* ending = one.client == Client::kCodex ? ".toml" : ".json";
  return kFolder + one.name + "." + std::string(state) + ending;
}

SettingsFile file_of(Client client) {
  return settings_files(client, {}).front();
}

// Every leaf of a file as "path=value", in the order of the file.
void flatten(const JsonNode& node, const std::string& path, std::vector<std::string>& out) {
  if (node.members.empty() && node.items.empty()) out.push_back(path + "=" + node.text);
  for (const JsonMember& member : node.members) {
    flatten(member.value, path + "/" + member.key, out);
  }
  for (const JsonNode& item : node.items) flatten(item, path + "[]", out);
}
void flatten(const config::Value& value, const std::string& path, std::vector<std::string>& out) {
  if (value.entries.empty() && value.items.empty()) {
    out.push_back(path + "=" + value.text + std::to_string(value.integer) +
                  (value.boolean ? "true" : ""));
  }
  for (const config::Entry& entry : value.entries) {
    flatten(entry.value, path + "/" + entry.key, out);
  }
  for (const config::Value& item : value.items) flatten(item, path + "[]", out);
}

std::vector<std::string> leaves(Client client, std::string_view text) {
  std::vector<std::string> out;
  if (client == Client::kCodex) {
    const auto tree = config::parse_document(text);
    REQUIRE(tree.has_value());
    flatten(*tree, "", out);
  } else {
    const Result<JsonNode> tree = parse_json(text);
    REQUIRE(tree.has_value());
    flatten(*tree, "", out);
  }
  return out;
}

// Whether a set-up is meant to change that leaf.
bool is_ours(Client client, const std::string& leaf) {
  static const std::vector<std::string> claude = {"/env/ANTHROPIC_BASE_URL=",
                                                  "/env/ANTHROPIC_AUTH_TOKEN=",
                                                  "/env/ANTHROPIC_MODEL=",
                                                  "/env/ANTHROPIC_DEFAULT_HAIKU_MODEL=",
                                                  "/env/API_TIMEOUT_MS=600000",
                                                  "/env/CLAUDE_CODE_MAX_RETRIES=2",
                                                  "/env=",
                                                  "/permissions/allow"};
  static const std::vector<std::string> codex = {
      "/model=", "/model_provider=", "/model_providers/headway/"};
  static const std::vector<std::string> cline = {"/version=1",
                                                 "/lastUsedProvider=",
                                                 "/modes=",
                                                 "/providers=",
                                                 "/providers/openai-compatible/",
                                                 "/providers/openai-native/",
                                                 "/providers/anthropic/"};
  const auto& ours = client == Client::kClaudeCode ? claude
                     : client == Client::kCodex    ? codex
                                                   : cline;
  return std::any_of(ours.begin(), ours.end(),
                     [&](const std::string& prefix) { return leaf.starts_with(prefix); });
}

std::vector<std::string> foreign(Client client, std::string_view text) {
  std::vector<std::string> out = leaves(client, text);
  out.erase(std::remove_if(out.begin(), out.end(),
                           [&](const std::string& leaf) { return is_ours(client, leaf); }),
            out.end());
  return out;
}

}  // namespace

TEST_CASE("existing files become what a reviewer has seen, byte for byte") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const std::string before = read(path_of(one, "before"));
    REQUIRE_FALSE(before.empty());
    const Result<std::string> after = file_of(one.client).merge(before, order_of(one));
    REQUIRE(after.has_value());
    if (std::getenv("HEADWAY_WRITE_GOLDEN") != nullptr) {
      std::ofstream(path_of(one, "after"), std::ios::binary) << *after;
    }
    CHECK(*after == read(path_of(one, "after")));
  }
}

TEST_CASE("only the keys of the set-up change, all others keep value and order") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const std::string before = read(path_of(one, "before"));
    const std::string after = *file_of(one.client).merge(before, order_of(one));
    CHECK(foreign(one.client, before) == foreign(one.client, after));
  }
}

TEST_CASE("a second set-up changes nothing, at whatever time it comes") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const SettingsFile file = file_of(one.client);
    const std::string after = *file.merge(read(path_of(one, "before")), order_of(one));
    Order later = order_of(one);
    later.time = "2027-01-01T00:00:00.000Z";
    CHECK(*file.merge(after, later) == after);
  }
}

TEST_CASE("a new key or model changes its values only") {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const SettingsFile file = file_of(one.client);
    const std::string after = *file.merge(read(path_of(one, "before")), order_of(one));
    Order other = order_of(one);
    other.access.model = "smollm2-360m";
    std::string expected = after;
    for (size_t at = 0; (at = expected.find("smollm2-135m", at)) != std::string::npos;) {
      expected.replace(at, 12, "smollm2-360m");
    }
    CHECK(*file.merge(after, other) == expected);
  }
}

TEST_CASE("a set-up in place of nothing is what is printed, and its client finds it right") {
  for (const Client client : {Client::kClaudeCode, Client::kCodex, Client::kCline}) {
    CAPTURE(client_name(client));
    Surroundings where;
    where.environment = {{"HOME", "/home/mei"}};
    const Order order = order_of({client, ""});
    std::vector<FileText> texts;
    for (const std::string& path : examined_paths(client, where)) {
      FileText text;
      text.path = path;
      for (const SettingsFile& file : settings_files(client, where)) {
        if (file.path != path) continue;
        text.text = *file.merge("", order);
        text.there = true;
        text.mode = 0600;
      }
      texts.push_back(text);
    }
    const Examination examined = examine(client, texts, where, order.access);
    CHECK_FALSE(examined.failed());
    CHECK(root_of(examined.base_url.value) == order.access.root);
    CHECK(examined.key.value == order.access.api_key);
    for (const Setting& model : examined.models) CHECK(model.value == order.access.model);
    for (const Finding& finding : examined.findings) CHECK(finding.code == Code::kRetriesHide);
    const std::string main = settings_files(client, where).front().path;
    const auto text = std::find_if(texts.begin(), texts.end(),
                                   [&](const FileText& one) { return one.path == main; });
    CHECK(printed(client, order, where) == text->text);
  }
}

TEST_CASE("files are found where the clients' own variables say") {
  const auto path = [](Client client, config::Environment environment) {
    environment.emplace("HOME", "/h");
    return settings_files(client, {std::move(environment), ""}).front().path;
  };
  CHECK(path(Client::kClaudeCode, {}) == "/h/.claude/settings.json");
  CHECK(path(Client::kClaudeCode, {{"CLAUDE_CONFIG_DIR", "/c"}}) == "/c/settings.json");
  CHECK(path(Client::kCodex, {}) == "/h/.codex/config.toml");
  CHECK(path(Client::kCodex, {{"CODEX_HOME", "/x"}}) == "/x/config.toml");
  CHECK(path(Client::kCline, {}) == "/h/.cline/data/settings/providers.json");
  CHECK(path(Client::kCline, {{"CLINE_DIR", "/d"}}) == "/d/data/settings/providers.json");
  CHECK(path(Client::kCline, {{"CLINE_DATA_DIR", "/d"}}) == "/d/settings/providers.json");
  CHECK(path(Client::kCline, {{"CLINE_PROVIDER_SETTINGS_PATH", "/p.json"}}) == "/p.json");
}

TEST_CASE("what cannot be merged into is refused") {
  const Order order = order_of({Client::kClaudeCode, ""});
  CHECK_FALSE(file_of(Client::kClaudeCode).merge("{ // c\n}", order).has_value());
  CHECK_FALSE(file_of(Client::kClaudeCode).merge("{\"env\": [1]}", order).has_value());
  CHECK_FALSE(file_of(Client::kCline).merge("{\"providers\": \"x\"}", order).has_value());
  CHECK_FALSE(file_of(Client::kCodex).merge("model = \n", order).has_value());
  CHECK_FALSE(file_of(Client::kCodex).merge("model_providers = 1\n", order).has_value());
}
