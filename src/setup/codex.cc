#include "setup/codex.h"

#include <algorithm>

#include "base/text.h"
#include "config/option.h"
#include "settings/shell.h"
#include "settings/toml_edit.h"

namespace hw::setup {

using namespace settings;
namespace {

using config::Value;
using config::ValueKind;

constexpr std::string_view kProvider = "headway";
// One request may be sent (kRequestRetries + 1) * (kStreamRetries + 1) times.
constexpr int64_t kRequestRetries = 2;
constexpr int64_t kStreamRetries = 2;
constexpr int64_t kRequestRetriesUsual = 4;
constexpr int64_t kStreamRetriesUsual = 5;
constexpr std::string_view kIdleMs = "300000";
// Providers that Codex brings along.
constexpr std::string_view kBuiltIn[] = {"openai", "ollama", "lmstudio", "amazon-bedrock"};

std::string folder_of(const Surroundings& where) {
  const std::string_view own = where.variable("CODEX_HOME");
  return own.empty() ? concat(where.variable("HOME"), "/.codex") : std::string(own);
}

// A key of the configuration; of what is missing the place is the table's.
class Reader {
 public:
  explicit Reader(const FileText& file) : file_(file) {}

  Setting setting(const Value& table, std::string_view name) const {
    Setting out;
    out.name = name;
    out.form = LineForm::kToml;
    out.place = {file_.path, table.line};
    const Value* value = table.find(name);
    if (value == nullptr) return out;
    out.place.line = value->line;
    if (value->kind == ValueKind::kText) out.value = value->text;
    if (value->kind == ValueKind::kInteger) out.value = std::to_string(value->integer);
    if (value->kind == ValueKind::kBoolean) out.value = value->boolean ? "true" : "false";
    return out;
  }

 private:
  const FileText& file_;
};

// The entry among the providers that leads to the gateway asked about, or is named like ours.
const config::Entry* gateway_entry(const Examination& e, const Value* providers) {
  if (providers == nullptr) return nullptr;
  for (const config::Entry& entry : providers->entries) {
    const Value* url = entry.value.find("base_url");
    if (url == nullptr || url->kind != ValueKind::kText) continue;
    const bool leads = !e.expected.root.empty() && root_of(url->text) == e.expected.root;
    if (leads || entry.key == kProvider) return &entry;
  }
  return nullptr;
}

// The key that a provider sends, by the order in which Codex looks.
Setting find_key(const Value& provider, const Reader& reader, std::span<const FileText> files,
                 const Surroundings& where) {
  const Setting bearer = reader.setting(provider, "experimental_bearer_token");
  const Setting name = reader.setting(provider, "env_key");
  if (name.empty()) return bearer;
  Setting out;
  out.name = name.value;
  const FileText& dotenv = files[1];
  if (dotenv.there && dotenv_value(dotenv.text, name.value, out.value, out.place.line)) {
    out.place.source = dotenv.path;
    out.form = LineForm::kDotenv;
    return out;
  }
  out.value = where.variable(name.value);
  out.place.source = "environment";
  return out;
}

int64_t number_or(const Setting& setting, int64_t otherwise) {
  int64_t out = 0;
  return parse_number(std::string_view(setting.value), out) ? out : otherwise;
}

void judge_codex_retries(Examination& e, const Value& provider, const Reader& reader) {
  Setting inner = reader.setting(provider, "request_max_retries");
  const Setting outer = reader.setting(provider, "stream_max_retries");
  const int64_t requests = (std::max<int64_t>(number_or(inner, kRequestRetriesUsual), 0) + 1) *
                           (std::max<int64_t>(number_or(outer, kStreamRetriesUsual), 0) + 1);
  judge_retries(e, inner, requests, std::to_string(kRequestRetries));
}

void judge_headers(Examination& e, const Value& provider, const Reader& reader) {
  for (const std::string_view table : {"http_headers", "env_http_headers"}) {
    const Value* headers = provider.find(table);
    if (headers == nullptr) continue;
    for (const config::Entry& header : headers->entries) {
      if (!equal_ignoring_case(header.key, "authorization") &&
          !equal_ignoring_case(header.key, "x-api-key")) {
        continue;
      }
      Setting setting = reader.setting(*headers, header.key);
      e.add(Code::kHeaderCredential, setting.place, {std::string(table), header.key},
            setting.removal());
    }
  }
}

// A provider that is chosen and leads somewhere.
void judge_provider(Examination& e, const Value& provider, std::span<const FileText> files,
                    const Surroundings& where) {
  const Reader reader(files[0]);
  e.base_url = reader.setting(provider, "base_url");
  const Setting wire = reader.setting(provider, "wire_api");
  if (!wire.empty() && wire.value != "responses") {
    e.add(Code::kWireChat, wire.place, {wire.value}, wire.line("responses"));
  }
  e.key = find_key(provider, reader, files, where);
  if (e.key.name.empty()) {
    e.key = reader.setting(provider, "env_key");
    e.key.place = {files[0].path, provider.line};
  }
  judge_triple(e);
  config::Environment environment = where.environment;
  for (const std::string_view name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy",
                                      "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"}) {
    std::string value;
    int line = 0;
    if (files[1].there && dotenv_value(files[1].text, name, value, line)) {
      environment[std::string(name)] = value;
    }
  }
  judge_proxy(e, environment);
  judge_timeout(e, reader.setting(provider, "stream_idle_timeout_ms"));
  judge_codex_retries(e, provider, reader);
  judge_headers(e, provider, reader);
  if (files[1].there && e.key.form == LineForm::kDotenv) judge_mode(e, files[1]);
  if (e.key.name == "experimental_bearer_token") judge_mode(e, files[0]);
  if (files[2].there && files[2].text.find("\"refresh_token\"") != std::string::npos) {
    e.add(Code::kLoginAndKey, {files[2].path, 0}, {e.key.name}, "codex logout");
  }
}

}  // namespace

std::string codex_config_path(const Surroundings& where) {
  return concat(folder_of(where), "/config.toml");
}

std::string codex_env_path(const Surroundings& where) {
  return concat(folder_of(where), "/.env");
}

Result<std::string> merge_codex_config(std::string_view text, const Order& order) {
  TomlEdit edit(text);
  const auto provider = [](std::string_view name) {
    return TomlEdit::Path{"model_providers", std::string(kProvider), std::string(name)};
  };
  edit.set_text({"model"}, order.access.model);
  edit.set_text({"model_provider"}, kProvider);
  edit.set_text(provider("name"), "Headway");
  edit.set_text(provider("base_url"), openai_base_url(order.access.root));
  edit.set_text(provider("env_key"), kCodexKeyVariable);
  edit.set_text(provider("wire_api"), "responses");
  edit.set(provider("request_max_retries"), std::to_string(kRequestRetries), Existing::kKeep);
  edit.set(provider("stream_max_retries"), std::to_string(kStreamRetries), Existing::kKeep);
  edit.set(provider("stream_idle_timeout_ms"), kIdleMs, Existing::kKeep);
  return edit.finish();
}

Result<std::string> merge_codex_env(std::string_view text, const Order& order) {
  return with_dotenv(text, kCodexKeyVariable, order.access.api_key);
}

std::vector<std::string> codex_paths(const Surroundings& where) {
  return {codex_config_path(where), codex_env_path(where), folder_of(where) + "/auth.json"};
}

void examine_codex(Examination& e, std::span<const FileText> files, const Surroundings& where) {
  const FileText& file = files[0];
  e.url_form = UrlForm::kWithV1;
  const auto parsed = config::parse_document(file.text);
  if (!parsed.has_value()) {
    e.add(Code::kFileBroken, {file.path, parsed.error().line}, {parsed.error().what},
          write_command(e.client));
    return;
  }
  const Reader reader(file);
  const Value& root = *parsed;
  const Setting profile = reader.setting(root, "profile");
  if (!profile.empty()) {
    e.add(Code::kProfileRefused, profile.place, {profile.value}, profile.removal());
  }
  e.models = {reader.setting(root, "model")};
  Setting chosen = reader.setting(root, "model_provider");
  if (chosen.empty()) chosen.value = "openai";
  const Value* providers = root.find("model_providers");
  const Value* provider = providers == nullptr ? nullptr : providers->find(chosen.value);
  if (provider != nullptr && provider->find("base_url") != nullptr) {
    judge_provider(e, *provider, files, where);
    return;
  }
  const bool built_in =
      std::find(std::begin(kBuiltIn), std::end(kBuiltIn), chosen.value) != std::end(kBuiltIn);
  const config::Entry* other = gateway_entry(e, providers);
  if (other != nullptr) {
    e.add(Code::kProviderNotSelected, chosen.place, {chosen.value, other->key},
          chosen.line(other->key));
    e.base_url = {};
    return;
  }
  if (!built_in) {
    e.add(Code::kProviderUnknown, chosen.place, {chosen.value}, write_command(e.client));
    return;
  }
  e.add(Code::kNotConfigured, {file.path, 0},
        {std::string(client_title(e.client)), concat("the provider \"", chosen.value, "\"")},
        write_command(e.client));
}

}  // namespace hw::setup
