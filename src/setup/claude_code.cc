#include "setup/claude_code.h"

#include <optional>

#include "base/text.h"
#include "settings/json_edit.h"

namespace hw::setup {

using namespace settings;
namespace {

constexpr std::string_view kBaseUrl = "ANTHROPIC_BASE_URL";
constexpr std::string_view kToken = "ANTHROPIC_AUTH_TOKEN";
constexpr std::string_view kApiKey = "ANTHROPIC_API_KEY";
constexpr std::string_view kModel = "ANTHROPIC_MODEL";
constexpr std::string_view kSmallModel = "ANTHROPIC_DEFAULT_HAIKU_MODEL";
constexpr std::string_view kTimeout = "API_TIMEOUT_MS";
constexpr std::string_view kRetries = "CLAUDE_CODE_MAX_RETRIES";
// More hide a failure as slowness.
constexpr std::string_view kRetriesBetter = "2";
constexpr int64_t kRetriesUsual = 10;
// Variables that send Claude Code to a cloud, whatever the base URL says.
constexpr std::string_view kClouds[] = {
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
};
constexpr std::string_view kManagedSettings = "/etc/claude-code/managed-settings.json";

std::string folder_of(const Surroundings& where) {
  const std::string_view own = where.variable("CLAUDE_CONFIG_DIR");
  return own.empty() ? concat(where.variable("HOME"), "/.claude") : std::string(own);
}

// A settings file that could be read.
struct Layer {
  const FileText* file;
  JsonNode root;
};

// All settings, the strongest first, and below them the environment.
class Layers {
 public:
  Layers(Examination& e, std::span<const FileText> files, const Surroundings& where)
      : where_(where) {
    for (const FileText& file : files) {
      if (!file.there) continue;
      Result<JsonNode> root = parse_json(file.text);
      if (root.has_value()) {
        layers_.push_back({&file, std::move(*root)});
      } else {
        e.add(Code::kFileBroken, {file.path, 0}, {root.error().message},
              write_command(Client::kClaudeCode));
      }
    }
  }

  // The value that counts.
  Setting find(std::string_view name) const {
    for (const Layer& layer : layers_) {
      std::optional<Setting> found = in(layer, name);
      if (found.has_value()) return std::move(*found);
    }
    return in_environment(name);
  }
  Setting in_environment(std::string_view name) const {
    Setting out;
    out.name = name;
    out.value = where_.variable(name);
    out.place.source = "environment";
    return out;
  }
  // Values of the same name that do not count, the strongest first.
  std::vector<Setting> overridden(const Setting& by) const {
    std::vector<Setting> out;
    for (const Layer& layer : layers_) {
      const std::optional<Setting> found = in(layer, by.name);
      if (found.has_value() && found->value != by.value) out.push_back(*found);
    }
    const Setting shell = in_environment(by.name);
    if (!shell.empty() && shell.value != by.value) out.push_back(shell);
    return out;
  }
  // A member of the settings themselves.
  std::optional<Setting> top(std::string_view name) const {
    for (const Layer& layer : layers_) {
      const JsonNode* node = layer.root.find(name);
      if (node == nullptr || node->kind == json::Kind::kNull) continue;
      return setting(layer, name, *node);
    }
    return std::nullopt;
  }
  // The environment as Claude Code makes it for itself.
  config::Environment merged_environment() const {
    config::Environment out = where_.environment;
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      const JsonNode* env = layer->root.find("env");
      if (env == nullptr) continue;
      for (const JsonMember& member : env->members) out[member.key] = member.value.text;
    }
    return out;
  }

 private:
  static Setting setting(const Layer& layer, std::string_view name, const JsonNode& node) {
    Setting out;
    out.name = name;
    out.value = node.text;
    out.place = {layer.file->path, line_at(layer.file->text, node.begin)};
    out.form = LineForm::kJson;
    return out;
  }
  static std::optional<Setting> in(const Layer& layer, std::string_view name) {
    const JsonNode* env = layer.root.find("env");
    const JsonNode* node = env == nullptr ? nullptr : env->find(name);
    if (node == nullptr || node->text.empty()) return std::nullopt;
    return setting(layer, name, *node);
  }

  const Surroundings& where_;
  std::vector<Layer> layers_;
};

bool has_login(const FileText& file) {
  if (!file.there) return false;
  const Result<JsonNode> root = parse_json(file.text);
  if (!root.has_value()) return false;
  const JsonNode* login = root->find("claudeAiOauth");
  return login != nullptr && !login->text_of("accessToken").empty();
}

// Which credential is sent, and what stands beside it.
void judge_credentials(Examination& e, const Layers& layers, const FileText& own,
                       const FileText& login_file) {
  const Setting token = layers.find(kToken);
  const Setting api_key = layers.find(kApiKey);
  const std::optional<Setting> program = layers.top("apiKeyHelper");
  const Setting login_token = layers.find("CLAUDE_CODE_OAUTH_TOKEN");
  e.key = token.empty() && !api_key.empty() ? api_key : token;
  if (e.key.empty()) {
    e.key.form = LineForm::kJson;
    e.key.place = {own.path, 0};
  }
  if (!token.empty() && !api_key.empty()) {
    e.add(Code::kCredentialsBoth, api_key.place, {token.name, api_key.name}, api_key.removal());
  } else if (program.has_value() && !e.key.empty()) {
    e.add(Code::kCredentialsBoth, program->place, {e.key.name, program->name}, program->removal());
  }
  const bool login = has_login(login_file) || !login_token.empty();
  const Place place = login_token.empty() ? Place{login_file.path, 0} : login_token.place;
  const std::string change =
      login_token.empty() ? std::string("claude /logout") : login_token.removal();
  if (login && !e.key.empty()) e.add(Code::kLoginAndKey, place, {e.key.name}, change);
  e.key_elsewhere = program.has_value() || login;
  if (login && e.key.empty() && !program.has_value()) {
    e.add(Code::kLoginSent, place, {e.base_url.value}, write_command(e.client));
  }
}

void judge_overriding(Examination& e, const Layers& layers) {
  for (const std::string_view name : {kBaseUrl, kToken, kModel}) {
    const Setting counts = layers.find(name);
    for (const Setting& other : layers.overridden(counts)) {
      e.add(Code::kOverridden, other.place, {other.name, counts.place.source},
            concat(counts.removal(), "   (", counts.place.source, ":", counts.place.line, ")"));
      // What the shell says is meant for others, too.
      if (other.form != LineForm::kShell) continue;
      e.findings.back().severity = Severity::kNote;
      e.findings.back().change = other.removal();
    }
  }
}

}  // namespace

std::string claude_code_settings_path(const Surroundings& where) {
  return concat(folder_of(where), "/settings.json");
}

Result<std::string> merge_claude_code_settings(std::string_view text, const Order& order) {
  const Access& access = order.access;
  const std::string& small = order.small_model.empty() ? access.model : order.small_model;
  JsonEdit edit(text);
  const bool is_new = edit.root().members.empty();
  const auto variable = [](std::string_view name) {
    return JsonEdit::Path{"env", std::string(name)};
  };
  edit.set_text(variable(kBaseUrl), access.root);
  edit.set_text(variable(kToken), access.api_key);
  edit.set_text(variable(kModel), access.model);
  edit.set_text(variable(kSmallModel), small);
  edit.set_text(variable(kTimeout), "600000", Existing::kKeep);
  edit.set_text(variable(kRetries), kRetriesBetter, Existing::kKeep);
  if (is_new) edit.set({"permissions", "allow"}, "[]", Existing::kKeep);
  for (const std::string& rule : order.allow) edit.add_text({"permissions", "allow"}, rule);
  return edit.finish();
}

std::vector<std::string> claude_code_paths(const Surroundings& where) {
  const std::string own = claude_code_settings_path(where);
  std::vector<std::string> out = {std::string(kManagedSettings)};
  if (!where.folder.empty()) {
    out.push_back(where.folder + "/.claude/settings.local.json");
    const std::string project = where.folder + "/.claude/settings.json";
    if (project != own) out.push_back(project);  // the home folder is no project
  }
  out.push_back(own);
  out.push_back(folder_of(where) + "/.credentials.json");
  return out;
}

void examine_claude_code(Examination& e, std::span<const FileText> files,
                         const Surroundings& where) {
  const FileText& login_file = files.back();
  const FileText& own = files[files.size() - 2];
  const Layers layers(e, files.first(files.size() - 1), where);
  e.url_form = UrlForm::kRoot;
  e.base_url = layers.find(kBaseUrl);
  for (const std::string_view name : kClouds) {
    const Setting cloud = layers.find(name);
    if (cloud.empty() || cloud.value == "0" || cloud.value == "false") continue;
    e.add(Code::kOtherProvider, cloud.place, {cloud.name}, cloud.removal());
  }
  if (e.base_url.empty()) {
    e.add(Code::kNotConfigured, {own.path, 0},
          {std::string(client_title(e.client)), "api.anthropic.com"}, write_command(e.client));
    return;
  }
  judge_credentials(e, layers, own, login_file);
  e.models = {layers.find(kModel), layers.find(kSmallModel)};
  for (Setting& model : e.models) {
    // A window of a million tokens is asked for by a mark that is not sent.
    if (model.value.ends_with("[1m]")) model.value.resize(model.value.size() - 4);
    if (!model.empty()) continue;
    model.form = LineForm::kJson;
    model.place = {own.path, 0};
  }
  judge_triple(e);
  judge_overriding(e, layers);
  judge_proxy(e, layers.merged_environment());
  judge_timeout(e, layers.find(kTimeout));
  judge_timeout(e, layers.find("CLAUDE_STREAM_IDLE_TIMEOUT_MS"));
  Setting retries = layers.find(kRetries);
  int64_t count = kRetriesUsual;
  if (retries.empty()) {
    retries.form = LineForm::kJson;
    retries.place = {own.path, 0};
  } else if (!parse_number(std::string_view(retries.value), count)) {
    count = kRetriesUsual;
  }
  judge_retries(e, retries, count + 1, kRetriesBetter);
  const Setting headers = layers.find("ANTHROPIC_CUSTOM_HEADERS");
  for (const std::string_view header : {"authorization", "x-api-key"}) {
    std::string small;
    for (const char c : headers.value) small += lower(c);
    if (small.find(concat(header, ":")) == std::string::npos) continue;
    e.add(Code::kHeaderCredential, headers.place, {headers.name, std::string(header)},
          headers.removal());
  }
  judge_mode(e, own);
}

}  // namespace hw::setup
