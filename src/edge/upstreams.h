// Upstreams: the upstream side of one loop: its connections by channel and transport, the trust
// that they are made with, and names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/metrics.h"
#include "http/pool.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "route/catalogue.h"

namespace hw::edge {

class Upstreams {
 public:
  // `waiting` counts who waits for a place in a pool.
  Upstreams(net::Loop& loop, net::BlockingPool& blocking, Gauge waiting)
      : loop_(loop), resolver_(loop, blocking), waiting_(waiting) {}

  // The pool of what route::Channel::transport stands for. Valid as long as the caller has a ticket
  // or a lease of it.
  http::Pool& pool(const route::Channel& channel) { return entry(channel).pool; }
  // Null for plain HTTP. Valid as long as the caller has a lease of the channel's pool.
  // Errors: kConfig, where the channel's trusted certificates cannot be used.
  Result<net::TlsContext*> tls(const route::Channel& channel);
  net::Resolver& resolver() { return resolver_; }

  // From now on `catalogue` counts: its caps, and no connection that it knows nothing of is kept.
  // Exchanges that began before end as they began.
  void follow(const route::Catalogue& catalogue);
  void close_idle();

 private:
  struct Entry {
    http::Pool pool;
    std::shared_ptr<net::TlsContext> tls;  // made when it is first needed
    Entry(net::Loop& loop, int connections_max, Gauge waiting)
        : pool(loop, connections_max, waiting) {}
  };
  Entry& entry(const route::Channel& channel);

  net::Loop& loop_;
  net::Resolver resolver_;
  const Gauge waiting_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;  // by transport
  // By what is trusted beside the system's roots: these take a megabyte, so channels share them.
  std::unordered_map<std::string, std::weak_ptr<net::TlsContext>> contexts_;
};

}  // namespace hw::edge
