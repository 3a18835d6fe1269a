// The small requests that an access check sends: head and body for each dialect. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/dialect.h"
#include "probe/base_url.h"
#include "probe/record.h"

namespace hw::probe {

// The name of the field that limits the answer's length, where a dialect has two.
enum class TokenLimit : uint8_t { kMaxTokens, kMaxCompletionTokens };

// How many tokens are asked for: enough for a reasoning model not to be refused (some want 16 at
// least), and for a stream long enough to be judged; and of the longer stream.
inline constexpr int kPlainTokens = 24;
inline constexpr int kStreamTokens = 48;
inline constexpr int kLongerStreamTokens = 160;

// One request, ready to be sent.
struct Request {
  std::string method = "POST";
  BaseUrl url;         // where to connect
  std::string target;  // path and query
  Dialect dialect = Dialect::kOpenaiChat;
  bool streamed = false;
  KeyHeader key_header = KeyHeader::kBearer;
  std::string key;  // empty: no credential is sent
  int max_tokens = 0;
  std::string body;
};

// The body that asks `model` for a short text in `dialect`.
std::string compose_body(Dialect dialect, std::string_view model, bool streamed, int max_tokens,
                         TokenLimit limit);

// The header in which the dialect's SDK presents a key.
KeyHeader usual_key_header(Dialect dialect);

// Head of `request`, its blank line included. Through a proxy that is no tunnel the target is
// absolute (RFC 9112 §3.2.2), and `proxy_authorization` is sent where it is not empty.
enum class HeadForm : uint8_t { kOrigin, kAbsolute };
std::string compose_head(const Request& request, HeadForm form,
                         std::string_view proxy_authorization);

// Where the list of models is: beside the endpoint of `base_url` for its dialect.
std::string models_target(const BaseUrl& base_url, Dialect dialect);

}  // namespace hw::probe
