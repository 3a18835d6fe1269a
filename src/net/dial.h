// Dial: opens one connection to an upstream: name, TCP with fallback over addresses (RFC 8305),
// optionally through an HTTP proxy, TLS. Raises a signal when it is done; destroying it gives up.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/event.h"
#include "net/resolver.h"
#include "net/socket.h"
#include "net/tls.h"

namespace hw::net {

// Where to connect.
struct DialTarget {
  std::string host;
  uint16_t port = 0;
  TlsContext* tls = nullptr;  // null: plain TCP
  std::string proxy_host;     // empty: direct
  uint16_t proxy_port = 0;
  std::string proxy_authorization;  // "Basic ..." or empty
};

// When each step was done, monotonic; -1: the step did not happen (yet).
struct DialTimes {
  Nanos resolved = -1;  // of a name; a literal address needs no look-up
  Nanos connected = -1;
  Nanos secured = -1;
};

class Dial {
 public:
  // A second address is tried when the first has not answered after this long (RFC 8305 §5).
  static constexpr Nanos kFallbackDelay = 250 * kMillisecond;

  // Begins at once. `done` is raised on `event` when finished() turns true; both outlive this.
  Dial(Loop& loop, Resolver& resolver, const DialTarget& target, Event& event, Signals done);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  // A connection is there, or has failed.
  bool finished() const;
  // What was done so far; also after a failure or a time-out.
  DialTimes times() const;
  // The socket, or kConnect with what failed last. Once, after finished().
  Result<Socket> take();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hw::net
