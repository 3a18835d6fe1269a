// What can be said about a base URL, a key or a proxy by looking at it: the mistakes that people
// make when they copy one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/secret.h"
#include "setup/finding.h"

namespace hw::setup {

// What a client expects of its base URL.
enum class UrlForm : uint8_t {
  kRoot,    // Anthropic's: without /v1
  kWithV1,  // OpenAI's, and all of Cline's
};

// A mistake and what it needs for its sentence.
struct Mistake {
  Code code;
  std::vector<std::string> arguments;
};

// What is wrong with a base URL.
struct UrlJudgement {
  std::vector<Mistake> mistakes;
  std::string corrected;  // as it should be; empty where nothing could be made of it
};
// `setting` is the name under which it stands. A path before /v1 (a gateway below a prefix) is
// nothing wrong.
UrlJudgement judge_base_url(std::string_view url, UrlForm form, std::string_view setting);

// Where a base URL of either form leads, without /v1 and without what does not belong there; empty
// where it is none.
std::string root_of(std::string_view url);
// "127.0.0.1" of "http://127.0.0.1:8080/v1", without brackets of IPv6; empty where it is no URL.
std::string host_of(std::string_view url);

// What is wrong with a key; `expected` is the whole one where it is known. The first mistake only.
std::optional<Mistake> judge_key(std::string_view key, std::string_view expected,
                                 std::string_view setting);

// The variable that sends requests for `url` to a proxy; empty where none does. Reads HTTP_PROXY or
// HTTPS_PROXY by the scheme, else ALL_PROXY, in small letters first, and NO_PROXY.
std::string proxy_variable(std::string_view url, const config::Environment& environment);
// NO_PROXY with `host` in it: the line to export.
std::string no_proxy_line(std::string_view host, const config::Environment& environment);
// Whether a name or address means this machine.
bool is_loopback(std::string_view host);

// The names of `all` that are most like `wanted`, or the first ones; at most five, with ", ".
std::string nearest_names(std::string_view wanted, const std::vector<std::string>& all);

}  // namespace hw::setup
