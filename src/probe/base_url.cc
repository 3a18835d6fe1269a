#include "probe/base_url.h"

#include <algorithm>

#include "base/text.h"

namespace hw::probe {
namespace {

constexpr size_t kGuessesMax = 8;

// Endpoints by the end of their paths, longer ones first.
struct EndpointName {
  std::string_view path;
  Dialect dialect;
};
constexpr EndpointName kEndpoints[] = {
    {"/chat/completions", Dialect::kOpenaiChat},
    {"/completions", Dialect::kOpenaiCompletions},
    {"/responses", Dialect::kOpenaiResponses},
    {"/embeddings", Dialect::kOpenaiChat},
    {"/v1/messages", Dialect::kAnthropicMessages},
    {"/messages", Dialect::kAnthropicMessages},
    {"/models", Dialect::kOpenaiChat},
};

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool has_blank(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

void take_authority(std::string_view authority, BaseUrl& out) {
  if (authority.find('@') != std::string_view::npos) {
    out.fault = BaseUrl::Fault::kUserInIt;
    const size_t begin = out.given.find("://") + 3;
    out.given.replace(begin, authority.rfind('@'), "***");
    return;
  }
  const bool v6 = authority.starts_with('[');
  const size_t close = authority.find(']');
  if (v6 && close == std::string_view::npos) {
    out.fault = BaseUrl::Fault::kNoHost;
    return;
  }
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (!v6 || colon > close)) {
    if (!parse_number(authority.substr(colon + 1), out.port) || out.port == 0) {
      out.fault = BaseUrl::Fault::kBadPort;
    }
    authority = authority.substr(0, colon);
  }
  out.host = lowered(v6 ? authority.substr(1, close - 1) : authority);
  if (out.host.empty()) out.fault = BaseUrl::Fault::kNoHost;
}

void take_path(std::string_view path, BaseUrl& out) {
  while (path.ends_with('/')) path.remove_suffix(1);
  out.path = std::string(path);
  const std::string low = lowered(path);
  for (const EndpointName& endpoint : kEndpoints) {
    if (!low.ends_with(endpoint.path)) continue;
    out.names_endpoint = true;
    out.endpoint_dialect = endpoint.dialect;
    out.endpoint_bytes = endpoint.path.size();
    return;
  }
}

std::string port_suffix(const BaseUrl& url) {
  if (url.port == (url.tls ? 443 : 80)) return {};
  return concat(":", url.port);
}

// `path` with every run of /v1/v1 made one.
std::string with_one_v1(std::string path) {
  for (size_t at; (at = path.find("/v1/v1")) != std::string::npos;) path.erase(at, 3);
  return path;
}

bool is_private_v4(std::string_view host) {
  uint8_t parts[4];
  std::string_view rest = host;
  for (int i = 0; i < 4; ++i) {
    const size_t dot = rest.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return false;
    if (!parse_number(rest.substr(0, dot), parts[i])) return false;
    if (i < 3) rest.remove_prefix(dot + 1);
  }
  return parts[0] == 127 || parts[0] == 10 || (parts[0] == 192 && parts[1] == 168) ||
         (parts[0] == 172 && parts[1] >= 16 && parts[1] < 32) ||
         (parts[0] == 169 && parts[1] == 254);
}

// Collects guesses and leaves out what is there already.
class Guesses {
 public:
  Guesses(const BaseUrl& url, Dialect dialect) : origin_(origin_of(url)) {
    seen_.push_back(origin_ + literal_target(url, dialect));
    dialect_ = dialect;
  }

  void add(UrlGuess::Change change, const std::string& path) {
    const std::string whole = concat(origin_, path, endpoint_suffix(dialect_));
    if (out_.size() >= kGuessesMax || std::find(seen_.begin(), seen_.end(), whole) != seen_.end()) {
      return;
    }
    seen_.push_back(whole);
    out_.push_back(UrlGuess{change, origin_ + path});
  }

  std::vector<UrlGuess> take() { return std::move(out_); }

 private:
  const std::string origin_;
  Dialect dialect_ = Dialect::kOpenaiChat;
  std::vector<std::string> seen_;
  std::vector<UrlGuess> out_;
};

}  // namespace

BaseUrl inspect_base_url(std::string_view text) {
  BaseUrl out;
  out.given = std::string(text);
  std::string_view rest = text;
  const size_t scheme = rest.find("://");
  const std::string name = lowered(rest.substr(0, scheme == std::string_view::npos ? 0 : scheme));
  if (text.empty()) {
    out.fault = BaseUrl::Fault::kEmpty;
  } else if (has_blank(text)) {
    out.fault = BaseUrl::Fault::kBlank;
  } else if (name != "http" && name != "https") {
    out.fault = BaseUrl::Fault::kNoScheme;
  }
  if (out.fault != BaseUrl::Fault::kNone) return out;
  out.tls = name == "https";
  out.port = out.tls ? 443 : 80;
  rest.remove_prefix(scheme + 3);
  const size_t hash = rest.find('#');
  if (hash != std::string_view::npos) {
    out.fragment = std::string(rest.substr(hash + 1));
    rest = rest.substr(0, hash);
  }
  const size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    out.query = std::string(rest.substr(question + 1));
    rest = rest.substr(0, question);
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  take_authority(rest.substr(0, slash), out);
  take_path(rest.substr(slash), out);
  return out;
}

std::string origin_of(const BaseUrl& url) {
  const bool v6 = url.host.find(':') != std::string::npos;
  return concat(url.tls ? "https://" : "http://", v6 ? "[" : "", url.host, v6 ? "]" : "",
                port_suffix(url));
}

std::string address_of(const BaseUrl& url) {
  return origin_of(url) + url.path;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.ends_with(".localhost") ||
         (host.starts_with("127.") && is_private_v4(host));
}

bool is_private(std::string_view host) {
  if (is_loopback(host) || is_private_v4(host)) return true;
  if (host.find(':') != std::string_view::npos) {
    return host.starts_with("fc") || host.starts_with("fd") || host.starts_with("fe8");
  }
  return host.ends_with(".local") || host.ends_with(".internal") || host.ends_with(".lan") ||
         host.find('.') == std::string_view::npos;
}

std::string_view endpoint_suffix(Dialect dialect) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
      return "/chat/completions";
    case Dialect::kOpenaiCompletions:
      return "/completions";
    case Dialect::kOpenaiResponses:
      return "/responses";
    case Dialect::kOpenaiEmbeddings:
      return "/embeddings";
    case Dialect::kAnthropicMessages:
      return "/v1/messages";
  }
  return {};
}

std::string literal_target(const BaseUrl& url, Dialect dialect) {
  // A fragment never leaves the client, and what is appended behind it goes with it.
  if (!url.fragment.empty()) return url.path.empty() ? "/" : url.path;
  if (!url.query.empty()) {
    return concat(url.path.empty() ? "/" : url.path, "?", url.query, endpoint_suffix(dialect));
  }
  return concat(url.path, endpoint_suffix(dialect));
}

std::vector<UrlGuess> guess_base_urls(const BaseUrl& url, Dialect dialect) {
  using Change = UrlGuess::Change;
  Guesses guesses(url, dialect);
  std::string path = url.path;
  if (url.names_endpoint) {
    path.resize(path.size() - url.endpoint_bytes);
    guesses.add(Change::kNoEndpoint, path);
  }
  guesses.add(Change::kNoQuery, path);
  const std::string one = with_one_v1(path);
  if (one != path) guesses.add(Change::kOneV1, one);
  const bool has_v1 = one.ends_with("/v1");
  const std::string without = has_v1 ? one.substr(0, one.size() - 3) : one;
  if (family_of(dialect) == Family::kAnthropic) {
    if (has_v1) guesses.add(Change::kNoV1, without);
    guesses.add(Change::kRoot, "");
  } else {
    if (!has_v1) guesses.add(Change::kAddV1, one + "/v1");
    if (has_v1) guesses.add(Change::kNoV1, without);
    guesses.add(Change::kRoot, "/v1");
    guesses.add(Change::kApiV1, "/api/v1");
  }
  return guesses.take();
}

Dialect guess_dialect(const BaseUrl& url, std::string_view model, std::string_view key) {
  if (url.names_endpoint) return url.endpoint_dialect;
  const bool openai_path = url.path.ends_with("/v1");
  if (url.host.find("anthropic") != std::string::npos ||
      url.path.find("anthropic") != std::string::npos) {
    return Dialect::kAnthropicMessages;
  }
  if (openai_path) return Dialect::kOpenaiChat;
  if (key.starts_with("sk-ant-") || model.starts_with("claude")) return Dialect::kAnthropicMessages;
  return Dialect::kOpenaiChat;
}

}  // namespace hw::probe
