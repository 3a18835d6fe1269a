// Target: where requests go and in which dialect, and the bytes of each request. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dialect.h"
#include "base/result.h"
#include "probe/base_url.h"
#include "probe/proxy.h"
#include "probe/request.h"
#include "sampler/prompt.h"

namespace hw::sampler {

// Whether answers come as a stream of events or in one piece.
enum class Delivery : uint8_t { kStreamed, kWhole };

// Whether a connection serves one request or as many as it can.
enum class Reuse : uint8_t { kPooled, kNever };

// What the target is made of.
struct TargetSettings {
  std::string base_url;  // as an SDK takes it; a missing or superfluous /v1 is understood
  std::string key;       // empty: none is sent
  std::string model;
  Dialect dialect = Dialect::kOpenaiChat;
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
  std::string extra_body;  // a JSON object whose members are added to each body; empty: none
  probe::TokenLimit token_limit = probe::TokenLimit::kMaxTokens;
  Reuse reuse = Reuse::kPooled;
};

class Target {
 public:
  // kConfig, with what is wrong, for a URL, key, header or extra body that cannot be sent, and for
  // embeddings, which have no tokens to time.
  static Result<Target> make(TargetSettings settings, const probe::ProxyChoice& proxy);

  // Head and body of a request for `prompt`.
  std::string compose(const Prompt& prompt, Delivery delivery) const;
  // The same for a GET of `target` with the same credentials: "/v1/models", "/api/calls/req_1".
  std::string compose_get(std::string_view target) const;

  // What it was made of.
  const TargetSettings& settings() const { return settings_; }
  // The base URL as it was understood.
  const probe::BaseUrl& url() const { return url_; }
  // What stands between, by the environment.
  const probe::ProxyChoice& proxy() const { return proxy_; }
  // Path and query of the endpoint.
  const std::string& path() const { return path_; }
  // The endpoint whole, for people.
  std::string address() const;

 private:
  std::string compose_body(const Prompt& prompt, Delivery delivery) const;
  void append_head(std::string& out, std::string_view method, std::string_view path) const;

  TargetSettings settings_;
  probe::BaseUrl url_;
  probe::ProxyChoice proxy_;
  std::string path_;
};

}  // namespace hw::sampler
