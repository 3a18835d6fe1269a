// Which proxy the environment puts between a client and its target, as curl and the SDKs read it:
// http_proxy, https_proxy, all_proxy in both cases, and no_proxy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/secret.h"
#include "probe/base_url.h"

namespace hw::probe {

// The proxy that applies to one URL.
struct ProxyChoice {
  // What was found.
  enum class Kind : uint8_t {
    kNone,         // no variable applies
    kExcepted,     // one would, but no_proxy excepts the host
    kHttp,         // an HTTP proxy; host and port are set
    kUnsupported,  // socks or https: clients go through it, this check cannot
    kInvalid,      // the value is no URL of a proxy
  };
  Kind kind = Kind::kNone;
  std::string variable;  // "HTTPS_PROXY", the one that counts; with kExcepted the one that would
  std::string shown;     // its value, without user and password
  std::string host;
  uint16_t port = 0;
  std::string authorization;  // "Basic ..." of the user in the value, or empty
};

// Looks at `environment` for a request to `url`.
ProxyChoice choose_proxy(const config::Environment& environment, const BaseUrl& url);

// Whether a value of no_proxy excepts `host`: "*", a name, ".suffix" or a parent domain, a port
// behind a colon, an IPv4 network "10.0.0.0/8".
bool is_excepted(std::string_view no_proxy, std::string_view host, uint16_t port);

}  // namespace hw::probe
