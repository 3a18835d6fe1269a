// LoopGateway: what one loop serves: every request of its connections, by route.
#pragma once

#include <memory>
#include <string>

#include "gateway/exchange_state.h"
#include "gateway/gateway.h"
#include "http/server.h"
#include "net/blocking_pool.h"

namespace hw::gateway {

// The threads of the gateway that may block, apart by what they wait for, so that one cause stops
// nobody else: a locked database does not hold up a look-up of a name.
struct BlockingThreads {
  // DNS. A name server that does not answer holds a thread for many seconds; there must be others
  // for the names of other servers.
  net::BlockingPool names{16};
  // What is asked of /api and its like: blocks for moments.
  net::BlockingPool questions{4, 256};
  // What changes something there, one after the other: each may wait for another program's lock
  // for a second, so that few may wait.
  net::BlockingPool changes{1, 8};
};

class LoopGateway final : public http::RequestHandler {
 public:
  LoopGateway(net::Loop& loop, Common& common, BlockingThreads& blocking, const Parts& parts,
              Registry& registry, std::shared_ptr<const Snapshot> settings, net::TlsContext* tls);

  // The connections of this loop.
  http::Server& server() { return server_; }
  // On the loop's thread.
  void set_settings(std::shared_ptr<const Snapshot> settings) {
    settings_ = std::move(settings);
    context_.upstreams.follow(*settings_->catalogue);
  }
  // Closes what is kept for later; on the loop's thread.
  void close_idle() { context_.upstreams.close_idle(); }

  net::Task<void> serve(http::ServerConnection& client, const http::RequestHead& head) override;
  void refuse(const Error& error, std::string_view target, std::string& out) override;
  const http::ServerOptions& options() override { return settings_->server; }

 private:
  net::Task<void> serve_other(http::ServerConnection& client, const http::RequestHead& head,
                              edge::Route route);
  net::Task<void> serve_mounted(http::ServerConnection& client, const http::RequestHead& head,
                                const edge::Route& route);
  net::Task<void> answer(http::ServerConnection& client, const http::RequestHead& head,
                         std::string_view content_type, int status, const std::string& body,
                         std::string_view policy = {});
  net::Task<void> answer_error(http::ServerConnection& client, const http::RequestHead& head,
                               const edge::Route& route, const Error& error);
  std::string readiness_body(int& status) const;

  LoopContext context_;
  const Parts& parts_;
  BlockingThreads& blocking_;
  Registry& registry_;
  std::shared_ptr<const Snapshot> settings_;
  const bool secure_;
  http::Server server_;
};

}  // namespace hw::gateway
