#include "setup/cline.h"

#include "base/text.h"
#include "settings/json_edit.h"

namespace hw::setup {

using namespace settings;
namespace {

// Goes to its maker's address whatever the file says.
constexpr std::string_view kFixedProvider = "openai";

Setting member_setting(const FileText& file, const JsonNode& object, std::string_view name) {
  Setting out;
  out.name = name;
  out.form = LineForm::kJson;
  out.place = {file.path, line_at(file.text, object.begin)};
  const JsonNode* node = object.find(name);
  if (node == nullptr || node->kind == json::Kind::kNull) return out;
  out.value = node->text;
  out.place.line = line_at(file.text, node->begin);
  return out;
}

// What the client's own check of the file would miss.
void judge_entries(Examination& e, const FileText& file, const JsonNode& root,
                   const JsonNode* providers) {
  const JsonNode* version = root.find("version");
  if (version == nullptr || version->text != "1") {
    e.add(Code::kEntryBroken, {file.path, line_at(file.text, root.begin)}, {"/", "\"version\": 1"},
          "\"version\": 1");
  }
  if (providers == nullptr) return;
  for (const JsonMember& entry : providers->members) {
    const Place place = {file.path, line_at(file.text, entry.value.begin)};
    const JsonNode* settings = entry.value.find("settings");
    if (settings == nullptr || settings->kind != json::Kind::kObject) {
      e.add(Code::kEntryBroken, place, {entry.key, "\"settings\""},
            concat("\"settings\": { \"provider\": \"", entry.key, "\" }"));
    } else if (settings->text_of("provider").empty()) {
      e.add(Code::kEntryBroken, place, {entry.key, "\"provider\""},
            concat("\"provider\": \"", entry.key, "\""));
    }
    if (entry.value.text_of("updatedAt").empty()) {
      e.add(Code::kEntryBroken, place, {entry.key, "\"updatedAt\""},
            "\"updatedAt\": \"2026-01-01T00:00:00.000Z\"");
    }
  }
}

// Another entry that leads to the gateway asked about; empty where there is none.
std::string gateway_entry(const Examination& e, const JsonNode* providers) {
  if (providers == nullptr || e.expected.root.empty()) return {};
  for (const JsonMember& entry : providers->members) {
    const JsonNode* settings = entry.value.find("settings");
    if (settings == nullptr || entry.key == kFixedProvider) continue;
    if (root_of(settings->text_of("baseUrl")) == e.expected.root) return entry.key;
  }
  return {};
}

}  // namespace

std::string cline_providers_path(const Surroundings& where) {
  const std::string_view path = where.variable("CLINE_PROVIDER_SETTINGS_PATH");
  if (!path.empty()) return std::string(path);
  constexpr std::string_view kBelowData = "/settings/providers.json";
  const std::string_view data = where.variable("CLINE_DATA_DIR");
  if (!data.empty()) return concat(data, kBelowData);
  const std::string_view own = where.variable("CLINE_DIR");
  if (!own.empty()) return concat(own, "/data", kBelowData);
  return concat(where.variable("HOME"), "/.cline/data", kBelowData);
}

std::string_view cline_provider(const Order& order) {
  if (order.dialect == Dialect::kOpenaiResponses) return "openai-native";
  if (order.dialect == Dialect::kAnthropicMessages) return "anthropic";
  return "openai-compatible";
}

Result<std::string> merge_cline_providers(std::string_view text, const Order& order) {
  const std::string provider(cline_provider(order));
  const auto entry = [&](std::string_view name) {
    return JsonEdit::Path{"providers", provider, std::string(name)};
  };
  const auto setting = [&](std::string_view name) {
    return JsonEdit::Path{"providers", provider, "settings", std::string(name)};
  };
  JsonEdit edit(text);
  edit.set({"version"}, "1", Existing::kKeep);
  edit.set_text({"lastUsedProvider"}, provider);
  edit.set({"modes"}, "{}", Existing::kKeep);
  const Result<std::string> before = edit.finish();
  edit.set_text(setting("provider"), provider);
  edit.set_text(setting("apiKey"), order.access.api_key);
  edit.set_text(setting("model"), order.access.model);
  edit.set_text(setting("baseUrl"), openai_base_url(order.access.root));
  const Result<std::string> after = edit.finish();
  if (!before.has_value() || !after.has_value()) return after;
  const bool changed = *before != *after;
  edit.set_text(entry("updatedAt"), order.time, changed ? Existing::kReplace : Existing::kKeep);
  edit.set_text(entry("tokenSource"), "manual", changed ? Existing::kReplace : Existing::kKeep);
  return edit.finish();
}

std::vector<std::string> cline_paths(const Surroundings& where) {
  return {cline_providers_path(where)};
}

void examine_cline(Examination& e, std::span<const FileText> files, const Surroundings& where) {
  const FileText& file = files[0];
  e.url_form = UrlForm::kWithV1;
  JsonNode root;
  if (file.there) {
    Result<JsonNode> parsed = parse_json(file.text);
    if (!parsed.has_value()) {
      e.add(Code::kFileBroken, {file.path, 0}, {parsed.error().message}, write_command(e.client));
      return;
    }
    root = std::move(*parsed);
  }
  const JsonNode* providers = root.find("providers");
  const Setting chosen = member_setting(file, root, "lastUsedProvider");
  const JsonNode* entry = providers == nullptr ? nullptr : providers->find(chosen.value);
  const JsonNode* settings = entry == nullptr ? nullptr : entry->find("settings");
  if (file.there) judge_entries(e, file, root, providers);
  const std::string other = gateway_entry(e, providers);
  const std::string_view url = settings == nullptr ? "" : settings->text_of("baseUrl");
  if (url.empty() || chosen.value == kFixedProvider) {
    if (!other.empty()) {
      e.add(Code::kProviderNotSelected, chosen.place, {chosen.value, other}, chosen.line(other));
    } else if (chosen.value == kFixedProvider && !url.empty()) {
      e.add(Code::kProviderFixed, chosen.place, {chosen.value}, chosen.line("openai-compatible"));
    } else if (!chosen.empty() && entry == nullptr) {
      e.add(Code::kProviderUnknown, chosen.place, {chosen.value}, write_command(e.client));
    } else {
      e.add(Code::kNotConfigured, {file.path, 0},
            {std::string(client_title(e.client)),
             chosen.empty() ? std::string("api.cline.bot") : concat("\"", chosen.value, "\"")},
            write_command(e.client));
    }
    return;
  }
  e.base_url = member_setting(file, *settings, "baseUrl");
  e.key = member_setting(file, *settings, "apiKey");
  e.models = {member_setting(file, *settings, "model")};
  judge_triple(e);
  judge_proxy(e, where.environment);
  judge_timeout(e, member_setting(file, *settings, "timeout"));
  const JsonNode* login = settings->find("auth");
  if (login != nullptr && !login->text_of("accessToken").empty()) {
    e.add(Code::kLoginAndKey, {file.path, line_at(file.text, login->begin)}, {"apiKey"},
          "- \"auth\"");
  }
  judge_mode(e, file);
}

}  // namespace hw::setup
