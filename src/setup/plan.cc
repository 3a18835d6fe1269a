#include "setup/plan.h"

#include "base/text.h"
#include "setup/claude_code.h"
#include "setup/cline.h"
#include "setup/codex.h"
#include "setup/sdk.h"

namespace hw::setup {

using namespace settings;

std::vector<SettingsFile> settings_files(Client client, const Surroundings& where) {
  switch (client) {
    case Client::kClaudeCode:
      return {{claude_code_settings_path(where), merge_claude_code_settings}};
    case Client::kCodex:
      return {{codex_config_path(where), merge_codex_config},
              {codex_env_path(where), merge_codex_env}};
    case Client::kCline:
      return {{cline_providers_path(where), merge_cline_providers}};
    case Client::kOpenai:
    case Client::kAnthropic:
    case Client::kCurl:
    case Client::kEnv:
    case Client::kTriple:
      break;
  }
  return {};
}

std::string printed(Client client, const Order& order, const Surroundings& where) {
  switch (client) {
    case Client::kClaudeCode:
    case Client::kCodex:
    case Client::kCline: {
      const SettingsFile file = settings_files(client, where).front();
      return file.merge("", order).value_or(std::string());
    }
    case Client::kOpenai:
    case Client::kAnthropic:
    case Client::kEnv:
      return export_lines(variables_of(client, order)) + python_lines(client, order);
    case Client::kCurl:
      return curl_command(order);
    case Client::kTriple:
      return triple_lines(order);
  }
  return {};
}

std::vector<std::string> examined_paths(Client client, const Surroundings& where) {
  switch (client) {
    case Client::kClaudeCode:
      return claude_code_paths(where);
    case Client::kCodex:
      return codex_paths(where);
    case Client::kCline:
      return cline_paths(where);
    case Client::kOpenai:
    case Client::kAnthropic:
    case Client::kCurl:
    case Client::kEnv:
    case Client::kTriple:
      break;
  }
  return {};
}

Examination examine(Client client, const std::vector<FileText>& files, const Surroundings& where,
                    const Access& expected) {
  Examination out;
  out.client = client;
  out.expected = expected;
  switch (client) {
    case Client::kClaudeCode:
      examine_claude_code(out, files, where);
      break;
    case Client::kCodex:
      examine_codex(out, files, where);
      break;
    case Client::kCline:
      examine_cline(out, files, where);
      break;
    case Client::kOpenai:
    case Client::kAnthropic:
    case Client::kCurl:
    case Client::kEnv:
    case Client::kTriple:
      examine_variables(out, where);
      break;
  }
  return out;
}

}  // namespace hw::setup
