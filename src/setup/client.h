// The clients that Headway can set up, and what a client must be told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"
#include "config/secret.h"

namespace hw::setup {

// Programs with settings files of their own, the two families of SDKs, and plain forms.
enum class Client : uint8_t {
  kClaudeCode,
  kCodex,
  kCline,
  kOpenai,     // variables of the OpenAI SDKs
  kAnthropic,  // variables of the Anthropic SDKs
  kCurl,       // one request
  kEnv,        // variables of all of them
  kTriple,     // base_url, api_key, model_id
};
inline constexpr int kClientCount = 8;
// All names, in the order of the enum, with `|` between them.
inline constexpr std::string_view kClientNames =
    "claude-code|codex|cline|openai|anthropic|curl|env|triple";

// "claude-code" and so on.
std::string_view client_name(Client client);
// How the client's makers write it: "Claude Code".
std::string_view client_title(Client client);
// False where `name` is no client.
bool parse_client(std::string_view name, Client& out);

// The triple that an application needs.
struct Access {
  std::string root;     // "http://127.0.0.1:8080": base URL of Anthropic's clients, without /v1
  std::string api_key;  // empty: unknown
  std::string model;    // empty: unknown
};
// The base URL that OpenAI's clients take: `root` with /v1.
std::string openai_base_url(std::string_view root);

// What is to be written or printed.
struct Order {
  Access access;
  std::optional<Dialect> dialect;  // for clients that speak several; absent: the usual one
  std::string small_model;         // Claude Code's for small tasks; empty: the same model
  std::vector<std::string> allow;  // Claude Code: tools that it may use without asking
  std::string time;                // now, RFC 3339 in UTC with milliseconds: Cline notes it
};

// Where a client looks for its settings.
struct Surroundings {
  config::Environment environment;  // HOME and the clients' own variables
  std::string folder;               // the working directory, for settings of a project

  // A variable's value; empty where it is not set.
  std::string_view variable(std::string_view name) const;
};

// Stands in printed set-ups for a key or model that is not known.
inline constexpr std::string_view kUnknownKey = "YOUR_KEY";
inline constexpr std::string_view kUnknownModel = "YOUR_MODEL";

}  // namespace hw::setup
