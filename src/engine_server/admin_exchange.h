// POST /admin/...: what only whoever has the admin token may do to an instance.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine_server/completion_exchange.h"
#include "http/server.h"
#include "net/task.h"

namespace hw::engine_server {

// What is asked for.
enum class AdminAction : uint8_t {
  kFaults,            // /admin/faults: the body's faults (faults/schedule.h) replace those before
  kAbort,             // /admin/abort {"id": "req_..."}: ends a request; 404 where there is none
  kResetPrefixCache,  // /admin/reset_prefix_cache: 503 while blocks are in use
};
// By its path; absent for another one.
std::optional<AdminAction> admin_action(std::string_view path);

// Lives in the coroutine that serves the request.
class AdminExchange {
 public:
  AdminExchange(const Services& services, http::ServerConnection& client, AdminAction action)
      : services_(services), client_(client), action_(action) {}

  // kUnauthorized unless `authorization` is `Bearer` and the token, and where there is no token;
  // kBadRequest where the body cannot be read.
  net::Task<void> run(std::string_view authorization);

 private:
  Status take_faults() const;
  net::Task<Status> abort();
  net::Task<Status> reset_prefix_cache();
  bool may(std::string_view authorization) const;

  const Services& services_;
  http::ServerConnection& client_;
  const AdminAction action_;
};

// Faults from now on, in the backend and where sequences end.
void suffer(const Services& services, const faults::Faults& faults);

}  // namespace hw::engine_server
