// POST /admin/faults: what the instance is to suffer from now on, for whoever has the admin token.
#pragma once

#include <string_view>

#include "engine_server/completion_exchange.h"
#include "http/server.h"
#include "net/task.h"

namespace hw::engine_server {

// Lives in the coroutine that serves the request.
class AdminExchange {
 public:
  AdminExchange(const Services& services, http::ServerConnection& client)
      : services_(services), client_(client) {}

  // Takes the faults of the body (faults/schedule.h), which replace those before; `{}` ends all.
  // kUnauthorized unless `authorization` is `Bearer` and the token, and where there is no token;
  // kBadRequest where a fault is unknown or out of range.
  net::Task<void> run(std::string_view authorization);

 private:
  Status take() const;
  bool may(std::string_view authorization) const;

  const Services& services_;
  http::ServerConnection& client_;
};

}  // namespace hw::engine_server
