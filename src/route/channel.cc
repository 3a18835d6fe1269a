#include "route/channel.h"

#include <array>

#include "base/text.h"

namespace hw::route {
namespace {

struct EndpointRow {
  std::string_view name, path;
  Family family;
  Dialect dialect;
};
constexpr std::array<EndpointRow, kEndpointCount> kEndpoints = {{
    {"chat", "/v1/chat/completions", Family::kOpenai, Dialect::kOpenaiChat},
    {"completions", "/v1/completions", Family::kOpenai, Dialect::kOpenaiCompletions},
    {"responses", "/v1/responses", Family::kOpenai, Dialect::kOpenaiResponses},
    {"embeddings", "/v1/embeddings", Family::kOpenai, Dialect::kOpenaiEmbeddings},
    {"messages", "/v1/messages", Family::kAnthropic, Dialect::kAnthropicMessages},
    {"count_tokens", "/v1/messages/count_tokens", Family::kAnthropic, Dialect::kAnthropicMessages},
    {"tokenize", "/tokenize", Family::kOpenai, Dialect::kOpenaiChat},
}};

const EndpointRow& row(Endpoint endpoint) {
  return kEndpoints[static_cast<size_t>(endpoint)];
}

tl::unexpected<Error> bad_url(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kConfig,
              concat("base_url \"", text, "\": ", why, "; expected http(s)://host[:port][/path]"));
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Takes "host", "host:port" or "[v6]:port" apart.
Status read_authority(std::string_view text, std::string_view authority, BaseUrl& out) {
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad_url(text, "'[' without ']'");
    out.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && port.front() != ':') return bad_url(text, "unexpected text behind ']'");
    if (!port.empty()) port.remove_prefix(1);
  } else {
    const size_t colon = authority.find(':');
    out.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = authority.substr(colon + 1);
      if (port.empty()) return bad_url(text, "no port behind ':'");
    }
  }
  if (out.host.empty()) return bad_url(text, "names no host");
  for (char c : out.host) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f)
      return bad_url(text, "has a blank or a non-ASCII byte in the host");
  }
  out.port = out.tls ? 443 : 80;
  if (!port.empty() && (!parse_number(port, out.port) || out.port == 0))
    return bad_url(text, "has no valid port");
  return {};
}

// What the dialect's SDK would make of the path.
void fit_path(Family family, std::string& path, std::string& note) {
  const auto say = [&note](std::string_view what) {
    note += note.empty() ? "" : "; ", note += what;
  };
  if (path.size() > 1 && path.back() == '/') say("the trailing slash was taken off");
  while (!path.empty() && path.back() == '/') path.pop_back();
  switch (family) {
    case Family::kOpenai:
      if (path.empty()) {
        path = "/v1";
        say("/v1 was added: an openai base_url carries it");
      }
      break;
    case Family::kAnthropic:
      if (ends_with(path, "/v1")) {
        path.resize(path.size() - 3);
        say("/v1 was taken off: an anthropic base_url comes without it");
      }
      break;
  }
}

}  // namespace

std::string_view endpoint_name(Endpoint endpoint) {
  return row(endpoint).name;
}
std::string_view endpoint_path(Endpoint endpoint) {
  return row(endpoint).path;
}
Family endpoint_family(Endpoint endpoint) {
  return row(endpoint).family;
}
Dialect endpoint_dialect(Endpoint endpoint) {
  return row(endpoint).dialect;
}

bool parse_endpoint(std::string_view name, Endpoint& out) {
  for (int i = 0; i < kEndpointCount; ++i) {
    if (kEndpoints[static_cast<size_t>(i)].name != name) continue;
    out = static_cast<Endpoint>(i);
    return true;
  }
  return false;
}

bool is_translatable(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kChat:
    case Endpoint::kResponses:
    case Endpoint::kMessages:
      return true;
    case Endpoint::kCompletions:
    case Endpoint::kEmbeddings:
    case Endpoint::kCountTokens:
    case Endpoint::kTokenize:
      return false;
  }
  return false;
}

std::optional<Endpoint> EndpointSet::way_to(Endpoint asked) const {
  if (has(asked)) return asked;
  if (asked == Endpoint::kCountTokens && has(Endpoint::kTokenize)) return Endpoint::kTokenize;
  if (!is_translatable(asked)) return std::nullopt;
  // Chat first: every server of OpenAI's family speaks it.
  for (const Endpoint way : {Endpoint::kChat, Endpoint::kResponses, Endpoint::kMessages}) {
    if (has(way)) return way;
  }
  return std::nullopt;
}

EndpointSet EndpointSet::all_of(Family family) {
  EndpointSet out;
  for (int i = 0; i < kEndpointCount; ++i) {
    const auto endpoint = static_cast<Endpoint>(i);
    if (endpoint_family(endpoint) == family && endpoint != Endpoint::kTokenize) out.add(endpoint);
  }
  return out;
}

std::string BaseUrl::instance() const {
  const bool v6 = host.find(':') != std::string::npos;
  return concat(v6 ? "[" : "", host, v6 ? "]:" : ":", port);
}

std::string BaseUrl::host_header() const {
  if (port != (tls ? 443 : 80)) return instance();
  return host.find(':') != std::string::npos ? concat("[", host, "]") : host;
}

Result<BaseUrl> parse_base_url(std::string_view text, Family family, std::string& note) {
  BaseUrl out;
  std::string_view rest = text;
  if (rest.substr(0, 8) == "https://") {
    out.tls = true;
    rest.remove_prefix(8);
  } else if (rest.substr(0, 7) == "http://") {
    rest.remove_prefix(7);
  } else {
    return bad_url(text, "does not begin with http:// or https://");
  }
  if (rest.find('?') != std::string_view::npos)
    return bad_url(text, "carries a query (tracking parameters?)");
  if (rest.find('#') != std::string_view::npos) return bad_url(text, "carries a fragment");
  const size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos)
    return bad_url(text, "carries a user; use credential instead");
  if (const Status ok = read_authority(text, authority, out); !ok) return fail(ok.error());
  if (slash != std::string_view::npos) out.path = rest.substr(slash);
  for (char c : out.path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f)
      return bad_url(text, "has a blank or a non-ASCII byte in the path");
  }
  fit_path(family, out.path, note);
  return out;
}

}  // namespace hw::route
