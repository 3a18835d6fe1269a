// One HTTP request and its whole answer, blocking: for the command line and for asking an instance
// whether it is healthy. Not for the data path.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hw::app {

// A URL taken apart as far as a request needs it.
struct Url {
  bool tls = false;
  std::string host;  // without brackets for an IPv6 address
  uint16_t port = 80;
  std::string path;  // without a trailing slash; "" for the root
};
// "http(s)://host[:port][/path]"; kBadRequest with the reason for anything else.
Result<Url> parse_url(std::string_view text);

// What to ask.
struct HttpRequest {
  std::string method = "GET";
  std::string target;                                        // "/api/calls?limit=1"
  std::vector<std::pair<std::string, std::string>> headers;  // beside Host, Content-Length
  std::string body;
  Nanos timeout_ns = 30 * kSecond;  // from the start to the last byte of the answer
};

// What came back.
struct HttpAnswer {
  int status = 0;
  std::string body;
};

// An answer longer than this is kUpstreamProtocol.
inline constexpr size_t kAnswerBytesMax = 64u << 20;

// Sends `request` to the host of `url` (whose path is not used) on a connection of its own. Errors:
// kBadRequest for headers that cannot be sent, kConnect, kTimeoutTotal, kUpstreamBroken,
// kUpstreamProtocol.
Result<HttpAnswer> http_request(const Url& url, const HttpRequest& request);

}  // namespace hw::app
