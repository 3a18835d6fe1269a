// Channel: a configured upstream account or instance, as the configuration file describes it.
// Immutable once a catalogue holds it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dialect.h"
#include "base/result.h"
#include "base/text.h"

namespace hw::route {

// What a channel can be asked in its own dialect; a set of these is a bit mask.
enum class Endpoint : uint8_t {
  kChat,
  kCompletions,
  kResponses,
  kEmbeddings,
  kMessages,
  kCountTokens,
  kTokenize,  // no client asks for it: with it tokens are counted for those who ask for messages
};
inline constexpr int kEndpointCount = 7;
// "chat", "completions", "responses", "embeddings", "messages", "count_tokens", "tokenize".
std::string_view endpoint_name(Endpoint endpoint);
bool parse_endpoint(std::string_view name, Endpoint& out);
// The path below the server's root, "/v1/chat/completions", "/tokenize" and so on.
std::string_view endpoint_path(Endpoint endpoint);
Family endpoint_family(Endpoint endpoint);
Dialect endpoint_dialect(Endpoint endpoint);
// Chat, responses and messages: a request at one of them can be said at the others.
bool is_translatable(Endpoint endpoint);

// Bit mask over Endpoint.
class EndpointSet {
 public:
  void add(Endpoint endpoint) { bits_ |= 1u << static_cast<unsigned>(endpoint); }
  bool has(Endpoint endpoint) const { return bits_ >> static_cast<unsigned>(endpoint) & 1u; }
  bool empty() const { return bits_ == 0; }
  // How a channel with this set is asked for what a client wants at `asked`: so where it serves
  // that, else by the first endpoint of another dialect that a translation leads to (chat,
  // responses, messages; for a count of tokens tokenize). Nothing: not at all.
  std::optional<Endpoint> way_to(Endpoint asked) const;
  // Everything that a family's servers can be asked, but for tokenize, which only some have.
  static EndpointSet all_of(Family family);
  friend bool operator==(const EndpointSet&, const EndpointSet&) = default;

 private:
  unsigned bits_ = 0;
};

// Clocks of one channel in milliseconds; 0: none; absent: the gateway's own value.
struct ChannelTimeouts {
  std::optional<int64_t> pool_wait_ms;
  std::optional<int64_t> connect_ms;
  std::optional<int64_t> first_token_ms;
  std::optional<int64_t> silence_ms;
  std::optional<int64_t> between_tokens_ms;
};

// A base URL taken apart: scheme, host, port and the path in front of "/chat/completions" (openai)
// or "/v1/messages" (anthropic), without a trailing slash.
struct BaseUrl {
  bool tls = false;
  std::string host;  // without brackets for an IPv6 address
  uint16_t port = 80;
  std::string path;  // "" or "/v1" or "/prefix/v1"
  // "host:port" as shown and as sent in Host (IPv6 in brackets; a default port is left out in
  // Host).
  std::string instance() const;
  std::string host_header() const;
};

// Takes `text` as the dialect's SDK would: openai with /v1, anthropic without. An openai URL
// without a path gets /v1, an anthropic one that ends in /v1 loses it, a trailing slash goes; each
// of these is said in `note`, for the log. Fails with kConfig where it is no http(s) URL, carries a
// query, a fragment or a user, or names no host.
Result<BaseUrl> parse_base_url(std::string_view text, Family family, std::string& note);

// One [[channels]] entry.
struct ChannelOptions {
  std::string name;
  Family family = Family::kOpenai;
  BaseUrl base_url;
  std::string credential;    // resolved secret; empty: none is sent
  bool inject_usage = true;  // ask for usage in chat and completions streams, hide the extra chunk
  int connections_max = 1024;  // per loop and instance
  EndpointSet serves;
  std::vector<std::string> models;
  // Name asked for -> name sent, in the order of the file. One * at the end of a key is a wildcard.
  std::vector<std::pair<std::string, std::string>> model_map;
  int priority = 0;  // higher is tried first
  int weight = 1;    // share among equals, 1..1000
  ChannelTimeouts timeouts;
  std::string ca_file;  // PEM of further trusted roots for this upstream; empty: the system's
  // What ca_file held when the configuration was read; null without one.
  std::shared_ptr<const std::string> ca_pem;
  bool use_proxy = false;                 // honour HTTP(S)_PROXY and NO_PROXY of the environment
  int64_t max_tokens_default = 8192;      // sent to messages where the client gave no limit
  std::vector<std::string> extra_fields;  // taken beyond the dialect's, in translated requests
  // The only fields of a request and the only flags of `anthropic-beta` that it takes; others are
  // left out and marked. A * at the end of a flag stands for the rest. Empty: it takes all.
  std::vector<std::string> fields;
  std::vector<std::string> betas;
  bool takes_beta(std::string_view flag) const {
    return betas.empty() || std::ranges::any_of(betas, [&](std::string_view taken) {
             return matches_pattern(taken, flag);
           });
  }
};

}  // namespace hw::route
