// The routes of an instance.
#pragma once

#include <string>
#include <string_view>

#include "base/metrics.h"
#include "engine_server/completion_exchange.h"
#include "engine_server/reply.h"
#include "http/server.h"

namespace hw::engine_server {

// On one loop. `/v1` may be missing in front, a query is ignored.
class InstanceHandler final : public http::RequestHandler {
 public:
  // All outlive it.
  InstanceHandler(Services& services, Registry& registry, const http::ServerOptions& options)
      : services_(services), registry_(registry), options_(options) {}

  net::Task<void> serve(http::ServerConnection& client, const http::RequestHead& head) override;
  void refuse(const Error& error, std::string_view target, std::string& out) override;
  const http::ServerOptions& options() override { return options_; }

  // From now on /health says 503 and completions are refused.
  void begin_drain() { draining_ = true; }

 private:
  Reply look_up(const http::RequestHead& head, std::string_view path) const;
  Reply health() const;
  Reply liveness() const;
  Reply load() const;
  Reply models(std::string_view name) const;

  Services& services_;
  Registry& registry_;
  const http::ServerOptions options_;
  bool draining_ = false;
};

}  // namespace hw::engine_server
