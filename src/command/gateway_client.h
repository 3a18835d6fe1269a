// GatewayClient: finds the gateway that a command is about and asks its admin API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/http_request.h"
#include "base/result.h"
#include "command/command_line.h"

namespace hw::cli {

// --base-url, --admin-token, --data: where the gateway is and who asks.
const std::vector<Flag>& client_flags();
// --api-key, for what a key may ask: its own calls by their id.
const Flag& key_flag();

// Where to ask, and with which secret.
struct GatewayPlace {
  std::string base_url;      // "http://127.0.0.1:8080", without /v1 and without a trailing slash
  std::string token;         // admin token, else key; empty: none known
  std::string token_origin;  // "--admin-token or HEADWAY_ADMIN_TOKEN", "data/admin_token", ...
};

// --base-url and its variable; else what a running `headway up` wrote into the data folder; else
// http://127.0.0.1:8080. Its secrets are sent to the gateway of that folder only, never to an
// address that was given from outside.
GatewayPlace find_gateway(const Arguments& arguments);

class GatewayClient {
 public:
  explicit GatewayClient(const Arguments& arguments)
      : arguments_(arguments), place_(find_gateway(arguments)) {}

  // Asks and gives the body of a 2xx answer. Otherwise says on standard error what went wrong and
  // gives the exit code: kUnreachable, also where the gateway cannot do it now (5xx), kNo for 404,
  // kUsage for the rest.
  tl::expected<std::string, Exit> ask(std::string_view method, const std::string& target,
                                      const std::string& body = {}) const;

  // Says that an answer cannot be read.
  Exit broken(const Error& error) const;

 private:
  const Arguments& arguments_;
  GatewayPlace place_;
};

// For one segment of a path or a value of a query (RFC 3986 §2.3).
std::string percent_encode(std::string_view text);

}  // namespace hw::cli
