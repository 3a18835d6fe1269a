// BaseUrl: a base URL as a person gave it, taken apart leniently, with everything that is odd about
// it, and the URLs that clients make of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"

namespace hw::probe {

// What a base URL says. Nothing here was tried; see inspect_base_url().
struct BaseUrl {
  // Why it cannot be used at all.
  enum class Fault : uint8_t {
    kNone,
    kEmpty,
    kNoScheme,  // "127.0.0.1:8080/v1", or another scheme than http and https
    kBlank,     // a blank or a control character in it
    kNoHost,    // "http:///v1"
    kBadPort,   // not 1 to 65535
    kUserInIt,  // "https://user:secret@host"
  };
  Fault fault = Fault::kNone;
  std::string given;  // as it came
  bool tls = false;
  std::string host;  // lower case, without the brackets of an IPv6 address
  uint16_t port = 0;
  std::string path;   // from the first slash, trailing slashes gone; "" for the root
  std::string query;  // without '?'
  std::string fragment;
  // The end of the path names an endpoint ("/chat/completions"): no base URL, but what a client
  // makes of one. The dialect is what the endpoint speaks.
  bool names_endpoint = false;
  Dialect endpoint_dialect = Dialect::kOpenaiChat;
  size_t endpoint_bytes = 0;  // of the path's end
};

// Takes `text` apart.
BaseUrl inspect_base_url(std::string_view text);

// "http://host:port", the port left out where it is the scheme's own.
std::string origin_of(const BaseUrl& url);
// origin and path, without query and fragment.
std::string address_of(const BaseUrl& url);
// Whether the host is this machine: localhost, 127/8, ::1.
bool is_loopback(std::string_view host);
// Whether the host is an address or a name of a local network: loopback, private and link-local
// addresses (RFC 1918, RFC 4193, RFC 3927), "*.local", "*.internal", a name without a dot.
bool is_private(std::string_view host);

// What an SDK appends to its base URL: "/chat/completions" and so on, "/v1/messages" for Anthropic.
std::string_view endpoint_suffix(Dialect dialect);
// The request target that a client of `dialect` makes of `url`, byte for byte: what the path and
// the query of the base URL are followed by the suffix, as official SDKs do.
std::string literal_target(const BaseUrl& url, Dialect dialect);

// One other base URL that might have been meant.
struct UrlGuess {
  // What is changed.
  enum class Change : uint8_t {
    kNoQuery,     // without query and fragment
    kNoEndpoint,  // without the endpoint's name at its end
    kOneV1,       // one /v1 where there were two
    kAddV1,
    kNoV1,   // Anthropic: its SDK appends /v1 itself
    kApiV1,  // "/api/v1", as OpenRouter and Open WebUI have it
    kRoot,   // the origin's own /v1, whatever path was given
  };
  Change change;
  std::string base_url;
};

// Other base URLs for `dialect`, the likeliest first, each different from `url` and the others; at
// most eight.
std::vector<UrlGuess> guess_base_urls(const BaseUrl& url, Dialect dialect);

// The dialect that URL, model and key suggest where none was named: an endpoint in the path, the
// word "anthropic" in host or path, an "sk-ant-" key, a model of Claude at a base URL without /v1;
// else chat.
Dialect guess_dialect(const BaseUrl& url, std::string_view model, std::string_view key);

}  // namespace hw::probe
