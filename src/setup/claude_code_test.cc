#include "setup/claude_code.h"

#include <doctest/doctest.h>

#include "setup/examined.h"

using namespace hw;
using namespace hw::settings;
using namespace hw::setup;

namespace {

constexpr const char* kOwn = "/h/.claude/settings.json";

// Settings with these members of env, a line each from line 3 on.
std::string with_env(const std::vector<std::string>& lines, const std::string& before = "") {
  std::string out = "{" + before + "\n  \"env\": {\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    out += "    " + lines[i] + (i + 1 < lines.size() ? ",\n" : "\n");
  }
  return out + "  }\n}\n";
}

const std::string kUrl = "\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8080\"";
const std::string kToken = "\"ANTHROPIC_AUTH_TOKEN\": \"hw-0123456789\"";
const std::string kModel = "\"ANTHROPIC_MODEL\": \"m\"";
const std::string kSmall = "\"ANTHROPIC_DEFAULT_HAIKU_MODEL\": \"m\"";

Machine machine(const std::vector<std::string>& more = {}, const std::string& before = "") {
  std::vector<std::string> lines = {kUrl, kToken, kModel, kSmall};
  lines.insert(lines.end(), more.begin(), more.end());
  Machine out(Client::kClaudeCode);
  out.file(kOwn, with_env(lines, before));
  return out;
}

}  // namespace

TEST_CASE("Claude Code: a good set-up is found good") {
  CHECK(machine().found() == "");
  CHECK_FALSE(machine().examine().failed());
}

TEST_CASE("Claude Code: nothing set up is said") {
  CHECK(Machine(Client::kClaudeCode).found() ==
        "wrong not_configured /h/.claude/settings.json:0 -> headway config claude-code --write\n");
}

TEST_CASE("Claude Code: a file that it cannot read is named with the line") {
  Machine broken(Client::kClaudeCode);
  broken.file(kOwn, "{\n  \"env\": {},\n}\n");
  const Examination examined = broken.examine();
  REQUIRE_FALSE(examined.findings.empty());
  CHECK(examined.findings[0].code == Code::kFileBroken);
  CHECK(examined.findings[0].arguments[0].starts_with("line 3: "));
}

TEST_CASE("Claude Code: mistakes of base URL and key come with their line") {
  Machine bad(Client::kClaudeCode);
  bad.file(kOwn, with_env({"\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8080/v1?utm_source=x\"",
                           "\"ANTHROPIC_AUTH_TOKEN\": \"hw-01234\"", kModel, kSmall}));
  CHECK(bad.found() ==
        "wrong base_url_query /h/.claude/settings.json:3 -> "
        "\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8080\"\n"
        "risk base_url_v1_extra /h/.claude/settings.json:3 -> "
        "\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8080\"\n"
        "wrong key_cut /h/.claude/settings.json:4 -> headway config claude-code --write\n");
}

TEST_CASE("Claude Code: token and API key together are told, and that the token wins") {
  Machine both = machine();
  both.variable("ANTHROPIC_API_KEY", "sk-ant-x");
  CHECK(both.found() == "risk credentials_both environment:0 -> unset ANTHROPIC_API_KEY\n");
  CHECK(both.examine().findings[0].arguments ==
        std::vector<std::string>{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"});
  CHECK(machine({}, "\n  \"apiKeyHelper\": \"/bin/key\",").found() ==
        "risk credentials_both /h/.claude/settings.json:2 -> - apiKeyHelper\n");
}

TEST_CASE("Claude Code: a login beside a key is a note, a login without one is sent and wrong") {
  const std::string login = "{\"claudeAiOauth\": {\"accessToken\": \"t\"}}";
  Machine both = machine();
  both.file("/h/.claude/.credentials.json", login);
  CHECK(both.found() == "note login_and_key /h/.claude/.credentials.json:0 -> claude /logout\n");
  Machine alone(Client::kClaudeCode);
  alone.file(kOwn, with_env({kUrl, kModel, kSmall}));
  alone.file("/h/.claude/.credentials.json", login);
  CHECK(alone.found() ==
        "wrong login_sent /h/.claude/.credentials.json:0 -> "
        "headway config claude-code --write\n");
}

TEST_CASE("Claude Code: settings of a project win, and both places are named") {
  Machine project = machine();
  project.file("/work/.claude/settings.local.json", with_env({"\"ANTHROPIC_MODEL\": \"other\""}));
  CHECK(project.found() ==
        "risk overridden /h/.claude/settings.json:5 -> - ANTHROPIC_MODEL   "
        "(/work/.claude/settings.local.json:3)\n");
  CHECK(project.examine().models[0].value == "other");
}

TEST_CASE("Claude Code: the shell's variable does not count beside the file's") {
  Machine shell = machine();
  shell.variable("ANTHROPIC_BASE_URL", "http://elsewhere");
  CHECK(shell.found() == "note overridden environment:0 -> unset ANTHROPIC_BASE_URL\n");
  CHECK(shell.examine().base_url.value == "http://127.0.0.1:8080");
}

TEST_CASE("Claude Code: a cloud, a proxy, a short time-out, own headers and open files are seen") {
  CHECK(machine({"\"CLAUDE_CODE_USE_BEDROCK\": \"1\""}).found() ==
        "wrong other_provider /h/.claude/settings.json:7 -> - CLAUDE_CODE_USE_BEDROCK\n");
  Machine proxy = machine();
  proxy.variable("HTTP_PROXY", "http://127.0.0.1:7890");
  CHECK(proxy.found() ==
        "wrong proxy_catches_gateway environment:0 -> "
        "export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1\n");
  Machine covered = machine({"\"NO_PROXY\": \"127.0.0.1\""});
  covered.variable("HTTP_PROXY", "http://127.0.0.1:7890");
  CHECK(covered.found() == "");
  CHECK(machine({"\"API_TIMEOUT_MS\": \"30000\""}).found() ==
        "risk timeout_short /h/.claude/settings.json:7 -> \"API_TIMEOUT_MS\": \"600000\"\n");
  CHECK(machine({"\"ANTHROPIC_CUSTOM_HEADERS\": \"X-A: 1\\nAuthorization: Bearer x\""}).found() ==
        "risk header_credential /h/.claude/settings.json:7 -> - ANTHROPIC_CUSTOM_HEADERS\n");
  Machine open(Client::kClaudeCode);
  open.file(kOwn, with_env({kUrl, kToken, kModel, kSmall}), 0644);
  CHECK(open.found() ==
        "risk file_open /h/.claude/settings.json:0 -> chmod 600 " + std::string(kOwn) + "\n");
}

TEST_CASE("Claude Code: ten retries by default are a note, two are none") {
  const auto noted = [](const Machine& one) {
    for (const Finding& finding : one.examine().findings) {
      if (finding.code == Code::kRetriesHide) return finding.arguments[1];
    }
    return std::string();
  };
  CHECK(noted(machine()) == "11");
  CHECK(noted(machine({"\"CLAUDE_CODE_MAX_RETRIES\": \"20\""})) == "21");
  CHECK(noted(machine({"\"CLAUDE_CODE_MAX_RETRIES\": \"2\""})) == "");
}

TEST_CASE("Claude Code: a model with a mark for its window is the model") {
  Machine marked(Client::kClaudeCode);
  marked.file(kOwn, with_env({kUrl, kToken, "\"ANTHROPIC_MODEL\": \"m[1m]\"", kSmall}));
  CHECK(marked.examine().models[0].value == "m");
}

TEST_CASE("no sentence of an examination holds a secret") {
  Machine bad = machine();
  bad.variable("ANTHROPIC_API_KEY", "sk-secret-1").variable("CLAUDE_CODE_OAUTH_TOKEN", "secret-2");
  for (const Finding& finding : bad.examine().findings) {
    for (const config::Language language :
         {config::Language::kEnglish, config::Language::kChinese}) {
      const std::string text = describe(finding, language) + finding.change;
      CHECK(text.find("secret") == std::string::npos);
      CHECK(text.find("hw-0123456789") == std::string::npos);
    }
  }
}
