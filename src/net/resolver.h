// Resolver: host names to addresses on the blocking pool, remembered for a while. One per loop.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/blocking_pool.h"
#include "net/loop.h"

namespace hw::net {

// One socket address, IPv4 or IPv6.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family() const { return storage.ss_family; }
};

// The addresses of a host in the order in which to try them: families alternate, IPv6 first where
// there is one (RFC 8305 §4).
using Addresses = std::vector<Address>;

// Looks `host` (a name or an address) up and blocks meanwhile. Error: kConnect.
Result<Addresses> look_up(const std::string& host, uint16_t port);

class Resolver {
 public:
  // getaddrinfo tells no lifetime; half a minute is what other proxies take.
  static constexpr Nanos kKeep = 30 * kSecond;
  static constexpr Nanos kKeepFailure = kSecond;
  static constexpr size_t kHostsMax = 1024;

  using Callback = std::function<void(const Result<Addresses>&)>;

  Resolver(Loop& loop, BlockingPool& pool) : loop_(loop), pool_(pool) {}

  // Calls `done` with the addresses: at once for an address or a remembered name, else later on
  // this loop. Error: kConnect with the resolver's words. Whoever may go away before that captures
  // something weak.
  void resolve(const std::string& host, uint16_t port, Callback done);

 private:
  struct Known {
    Result<Addresses> addresses;
    Nanos until = 0;
  };
  void remember(const std::string& key, const Result<Addresses>& found);

  Loop& loop_;
  BlockingPool& pool_;
  std::unordered_map<std::string, Known> known_;
  // Callers that wait for a look-up under way.
  std::unordered_map<std::string, std::vector<Callback>> waiting_;
};

}  // namespace hw::net
