#include "setup/client.h"

#include "base/text.h"

namespace hw::setup {

std::string_view client_name(Client client) {
  switch (client) {
    case Client::kClaudeCode:
      return "claude-code";
    case Client::kCodex:
      return "codex";
    case Client::kCline:
      return "cline";
    case Client::kOpenai:
      return "openai";
    case Client::kAnthropic:
      return "anthropic";
    case Client::kCurl:
      return "curl";
    case Client::kEnv:
      return "env";
    case Client::kTriple:
      return "triple";
  }
  return {};
}

std::string_view client_title(Client client) {
  switch (client) {
    case Client::kClaudeCode:
      return "Claude Code";
    case Client::kCodex:
      return "Codex";
    case Client::kCline:
      return "Cline";
    case Client::kOpenai:
      return "OpenAI SDK";
    case Client::kAnthropic:
      return "Anthropic SDK";
    case Client::kCurl:
    case Client::kEnv:
    case Client::kTriple:
      break;
  }
  return client_name(client);
}

bool parse_client(std::string_view name, Client& out) {
  for (int i = 0; i < kClientCount; ++i) {
    const auto client = static_cast<Client>(i);
    if (client_name(client) != name) continue;
    out = client;
    return true;
  }
  return false;
}

std::string openai_base_url(std::string_view root) {
  return concat(root, "/v1");
}

std::string_view Surroundings::variable(std::string_view name) const {
  return config::value_of(environment, name);
}

}  // namespace hw::setup
