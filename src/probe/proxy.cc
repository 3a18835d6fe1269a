#include "probe/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"

namespace hw::probe {
namespace {

// Base64 with padding (RFC 4648 §4), for Basic credentials.
std::string base64(std::string_view text) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < text.size(); at += 3) {
    const size_t count = std::min<size_t>(3, text.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < count ? static_cast<unsigned char>(text[at + i]) : 0u);
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= count ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

bool excepts_network(std::string_view entry, std::string_view host) {
  const size_t slash = entry.find('/');
  unsigned bits = 0;
  in_addr network{}, address{};
  if (slash == std::string_view::npos || !parse_number(entry.substr(slash + 1), bits) ||
      bits > 32 ||
      ::inet_pton(AF_INET, std::string(entry.substr(0, slash)).c_str(), &network) != 1 ||
      ::inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) {
    return false;
  }
  const uint32_t mask = bits == 0 ? 0 : ~uint32_t{0} << (32 - bits);
  return (ntohl(network.s_addr) & mask) == (ntohl(address.s_addr) & mask);
}

bool excepts(std::string_view entry, std::string_view host, uint16_t port) {
  if (entry == "*") return true;
  if (excepts_network(entry, host)) return true;
  const size_t colon = entry.rfind(':');
  uint16_t only = 0;
  if (colon != std::string_view::npos && entry.find(':') == colon &&
      parse_number(entry.substr(colon + 1), only)) {
    if (only != port) return false;
    entry = entry.substr(0, colon);
  }
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  const bool suffix = entry.starts_with('.');
  if (suffix) entry.remove_prefix(1);
  if (entry.empty() || entry.size() > host.size()) return false;
  if (!equal_ignoring_case(host.substr(host.size() - entry.size()), entry)) return false;
  return host.size() == entry.size() || host[host.size() - entry.size() - 1] == '.';
}

// The first of `names` that is set and not empty.
const config::Environment::value_type* find_first(const config::Environment& environment,
                                                  std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = environment.find(name);
    if (found != environment.end() && !trim(found->second).empty()) return &*found;
  }
  return nullptr;
}

void read_value(std::string_view value, ProxyChoice& out) {
  std::string text(trim(value));
  if (text.find("://") == std::string::npos) text.insert(0, "http://");  // curl: a proxy is HTTP
  const size_t scheme = text.find("://");
  const size_t at = text.rfind('@');
  std::string user;
  if (at != std::string::npos && at > scheme) {
    user = text.substr(scheme + 3, at - scheme - 3);
    text.erase(scheme + 3, at - scheme - 2);
  }
  out.shown = text;
  if (!text.starts_with("http://")) {
    const bool known = text.starts_with("https://") || text.starts_with("socks");
    out.kind = known ? ProxyChoice::Kind::kUnsupported : ProxyChoice::Kind::kInvalid;
    return;
  }
  const BaseUrl url = inspect_base_url(text);
  if (url.fault != BaseUrl::Fault::kNone) {
    out.kind = ProxyChoice::Kind::kInvalid;
    return;
  }
  out.kind = ProxyChoice::Kind::kHttp;
  out.host = url.host;
  out.port = url.port;
  if (!user.empty()) out.authorization = concat("Basic ", base64(user));
}

}  // namespace

ProxyChoice choose_proxy(const config::Environment& environment, const BaseUrl& url) {
  ProxyChoice out;
  const auto* found =
      url.tls ? find_first(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
              : find_first(environment, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
  if (found == nullptr) return out;
  out.variable = found->first;
  const auto* except = find_first(environment, {"no_proxy", "NO_PROXY"});
  if (except != nullptr && is_excepted(except->second, url.host, url.port)) {
    out.kind = ProxyChoice::Kind::kExcepted;
    return out;
  }
  read_value(found->second, out);
  return out;
}

bool is_excepted(std::string_view no_proxy, std::string_view host, uint16_t port) {
  while (!no_proxy.empty()) {
    const size_t end = std::min(no_proxy.find(','), no_proxy.size());
    if (excepts(trim(no_proxy.substr(0, end)), host, port)) return true;
    no_proxy.remove_prefix(std::min(end + 1, no_proxy.size()));
  }
  return false;
}

}  // namespace hw::probe
