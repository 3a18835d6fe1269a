#include "setup/triple_check.h"

#include <algorithm>

#include "base/text.h"

namespace hw::setup {
namespace {

// Taken apart without judging; views into the URL.
struct UrlParts {
  std::string_view scheme;     // "http" or "https"
  std::string_view authority;  // "host:port"
  std::string_view path;       // from the first slash on, without query
  std::string_view extra;      // "?..." or "#..."
};

std::optional<UrlParts> split_url(std::string_view url) {
  UrlParts out;
  for (const std::string_view scheme : {"http", "https"}) {
    const size_t size = scheme.size() + 3;
    if (url.size() > size && equal_ignoring_case(url.substr(0, size), concat(scheme, "://"))) {
      out.scheme = scheme;
      url.remove_prefix(size);
      const size_t extra = std::min(url.find_first_of("?#"), url.size());
      out.extra = url.substr(extra);
      const size_t slash = std::min(url.find('/'), extra);
      out.authority = url.substr(0, slash);
      out.path = url.substr(slash, extra - slash);
      if (out.authority.empty() || out.authority.front() == ':') return std::nullopt;
      return out;
    }
  }
  return std::nullopt;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

// Without blanks inside and blanks and quotation marks at both ends.
std::string without_dirt(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!is_space(c)) out += c;
  }
  while (!out.empty() && is_quote(out.back())) out.pop_back();
  while (!out.empty() && is_quote(out.front())) out.erase(0, 1);
  return out;
}

void drop_slashes(std::string& path) {
  while (path.ends_with('/')) path.pop_back();
}

// Endpoints of the APIs; longer ones before their ends.
constexpr std::string_view kEndpoints[] = {
    "/chat/completions", "/completions", "/messages/count_tokens", "/messages", "/responses",
    "/embeddings",       "/models",
};
// Pages of gateways and their like, in small letters.
constexpr std::string_view kPages[] = {
    "/console",    "/chat",       "/docs",  "/login",   "/signin", "/register",
    "/home",       "/panel",      "/admin", "/token",   "/tokens", "/dashboard",
    "/playground", "/index.html", "/ui",    "/pricing",
};

std::string as_lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += lower(c);
  return out;
}

// What is left of a path in the form wanted; the mistakes on the way are noted.
class PathJudge {
 public:
  PathJudge(std::string_view path, UrlJudgement& out) : path_(path), out_(out) {
    drop_slashes(path_);
  }

  void endpoint() {
    for (const std::string_view one : kEndpoints) {
      if (!path_.ends_with(one)) continue;
      out_.mistakes.push_back({Code::kBaseUrlEndpoint, {std::string(one)}});
      path_.resize(path_.size() - one.size());
      drop_slashes(path_);
      return;
    }
  }
  void page() {
    const std::string small = as_lower(path_);
    for (const std::string_view one : kPages) {
      if (small != one && !small.starts_with(concat(one, "/"))) continue;
      out_.mistakes.push_back({Code::kBaseUrlPage, {path_}});
      path_.clear();
      return;
    }
  }
  void version(UrlForm form, std::string_view url) {
    int count = 0;
    while (path_.ends_with("/v1")) {
      ++count;
      path_.resize(path_.size() - 3);
      drop_slashes(path_);
    }
    const std::string shown(url);
    if (count > 1) out_.mistakes.push_back({Code::kBaseUrlDoubled, {shown}});
    if (form == UrlForm::kRoot && count == 1) {
      out_.mistakes.push_back({Code::kBaseUrlV1Extra, {shown}});
    }
    if (form == UrlForm::kWithV1 && count == 0 && out_.mistakes.empty()) {
      out_.mistakes.push_back({Code::kBaseUrlV1Missing, {shown}});
    }
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UrlJudgement& out_;
};

// Whether an entry of NO_PROXY covers the host. Addresses with a prefix length are taken to cover
// what begins like them: clients differ there.
bool covers(std::string_view entry, std::string_view host, std::string_view authority) {
  if (entry == "*") return true;
  if (entry == authority) return true;
  if (entry.starts_with("[") && entry.ends_with("]")) entry = entry.substr(1, entry.size() - 2);
  const size_t slash = entry.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view network = entry.substr(0, entry.find(".0"));
    return !network.empty() && host.starts_with(network);
  }
  while (entry.starts_with('*') || entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty()) return false;
  if (equal_ignoring_case(entry, host)) return true;
  return host.size() > entry.size() && host[host.size() - entry.size() - 1] == '.' &&
         equal_ignoring_case(host.substr(host.size() - entry.size()), entry);
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> out;
  size_t begin = 0;
  while (begin < list.size()) {
    const size_t end = std::min(list.find_first_of(", \t", begin), list.size());
    if (end > begin) out.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Steps from one name to another (Levenshtein), letters' case apart.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      const size_t same = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + same});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

UrlJudgement judge_base_url(std::string_view url, UrlForm form, std::string_view setting) {
  UrlJudgement out;
  const std::string clean = without_dirt(url);
  if (clean != url) out.mistakes.push_back({Code::kBaseUrlBlank, {std::string(setting)}});
  std::optional<UrlParts> parts = split_url(clean);
  std::string guessed;
  if (!parts.has_value()) {
    out.mistakes.push_back({Code::kBaseUrlBroken, {clean}});
    // "host:port" without a scheme is the usual case.
    if (clean.empty() || clean.find("://") != std::string::npos) return out;
    guessed = concat("http://", clean);
    parts = split_url(guessed);
    if (!parts.has_value()) return out;
  }
  if (!parts->extra.empty()) {
    out.mistakes.push_back({Code::kBaseUrlQuery, {std::string(parts->extra)}});
  }
  PathJudge path(parts->path, out);
  path.endpoint();
  path.page();
  path.version(form, clean);
  out.corrected = concat(parts->scheme, "://", parts->authority, path.path(),
                         form == UrlForm::kWithV1 ? "/v1" : "");
  return out;
}

std::string root_of(std::string_view url) {
  return judge_base_url(url, UrlForm::kRoot, "").corrected;
}

std::string host_of(std::string_view url) {
  const std::optional<UrlParts> parts = split_url(url);
  if (!parts.has_value()) return {};
  std::string_view host = parts->authority.substr(parts->authority.rfind('@') + 1);
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  return std::string(host.substr(0, host.find(':')));
}

std::optional<Mistake> judge_key(std::string_view key, std::string_view expected,
                                 std::string_view setting) {
  const auto mistake = [&](Code code) { return Mistake{code, {std::string(setting)}}; };
  if (key.empty()) return mistake(Code::kKeyMissing);
  if (key.size() >= 2 && is_quote(key.front()) && key.back() == key.front()) {
    return mistake(Code::kKeyQuoted);
  }
  if (key.size() > 7 && equal_ignoring_case(key.substr(0, 7), "bearer ")) {
    return mistake(Code::kKeyBearer);
  }
  if (std::any_of(key.begin(), key.end(), is_space)) return mistake(Code::kKeyBlank);
  const bool strange = std::any_of(key.begin(), key.end(),
                                   [](char c) { return static_cast<unsigned char>(c) > 0x7e; });
  if (strange) return mistake(Code::kKeyLetters);
  const std::string small = as_lower(key);
  const bool example = small.find("your") != std::string::npos || key.front() == '<' ||
                       key.front() == '$' || key.ends_with("...") ||
                       small.find("xxx") != std::string::npos || small == "changeme";
  if (example && key != expected) return mistake(Code::kKeyPlaceholder);
  const bool part = !expected.empty() && key.size() < expected.size() && key.size() >= 4 &&
                    expected.find(key) != std::string_view::npos;
  if (part) {
    return Mistake{
        Code::kKeyCut,
        {std::string(setting), std::to_string(key.size()), std::to_string(expected.size())}};
  }
  return std::nullopt;
}

std::string proxy_variable(std::string_view url, const config::Environment& environment) {
  const std::optional<UrlParts> parts = split_url(url);
  if (!parts.has_value()) return {};
  const bool tls = parts->scheme == "https";
  std::string found;
  for (const std::string_view name :
       {tls ? "https_proxy" : "http_proxy", tls ? "HTTPS_PROXY" : "HTTP_PROXY", "all_proxy",
        "ALL_PROXY"}) {
    if (config::value_of(environment, name).empty()) continue;
    found = name;
    break;
  }
  if (found.empty()) return {};
  const std::string host = host_of(url);
  for (const std::string_view name : {"no_proxy", "NO_PROXY"}) {
    for (const std::string& entry : split_list(config::value_of(environment, name))) {
      if (covers(entry, host, parts->authority)) return {};
    }
  }
  return found;
}

std::string no_proxy_line(std::string_view host, const config::Environment& environment) {
  std::string_view before = config::value_of(environment, "NO_PROXY");
  if (before.empty()) before = config::value_of(environment, "no_proxy");
  const std::string list = concat(before, before.empty() ? "" : ",", host);
  return concat("export NO_PROXY=", list, " no_proxy=", list);
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.") ||
         host.ends_with(".localhost");
}

std::string nearest_names(std::string_view wanted, const std::vector<std::string>& all) {
  constexpr size_t kShown = 5;
  constexpr size_t kNameBytesMax = 256;
  std::vector<std::pair<size_t, size_t>> ranked;  // distance and place in the list
  const std::string_view asked = wanted.substr(0, kNameBytesMax);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() > kNameBytesMax) continue;
    // A name that holds the other is nearer than any that must be spelled anew.
    const std::string a = as_lower(asked), b = as_lower(all[i]);
    const bool holds = b.find(a) != std::string::npos || a.find(b) != std::string::npos;
    ranked.emplace_back(holds ? 0 : distance(asked, all[i]), i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::string out;
  for (size_t i = 0; i < ranked.size() && i < kShown; ++i) {
    out += concat(out.empty() ? "" : ", ", all[ranked[i].second]);
  }
  if (ranked.size() > kShown) out += ", ...";
  return out.empty() ? "-" : out;
}

}  // namespace hw::setup
