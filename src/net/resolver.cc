#include "net/resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace hw::net {
namespace {

bool parse_address(const std::string& host, uint16_t port, Address& out) {
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out.size = sizeof *v4;
    return true;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out.size = sizeof *v6;
    return true;
  }
  return false;
}

// IPv6, IPv4, IPv6, ...: so that a dead family costs one delay and not one for each address.
Addresses alternate(const Addresses& found) {
  Addresses v6, v4, out;
  for (const Address& a : found) (a.family() == AF_INET6 ? v6 : v4).push_back(a);
  for (size_t i = 0; i < std::max(v6.size(), v4.size()); ++i) {
    if (i < v6.size()) out.push_back(v6[i]);
    if (i < v4.size()) out.push_back(v4[i]);
  }
  return out;
}

}  // namespace

Result<Addresses> look_up(const std::string& host, uint16_t port) {
  Address literal;
  if (parse_address(host, port, literal)) return Addresses{literal};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (failed != 0) {
    return fail(ErrorCode::kConnect, concat("cannot resolve ", host, ": ", gai_strerror(failed)));
  }
  Addresses found;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    Address address;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    if (address.family() == AF_INET) {
      reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = htons(port);
    } else if (address.family() == AF_INET6) {
      reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = htons(port);
    } else {
      continue;
    }
    found.push_back(address);
  }
  ::freeaddrinfo(list);
  if (found.empty()) return fail(ErrorCode::kConnect, concat(host, " has no address"));
  return alternate(found);
}

void Resolver::resolve(const std::string& host, uint16_t port, Callback done) {
  Address literal;
  if (parse_address(host, port, literal)) return done(Addresses{literal});
  const std::string key = concat(host, ":", port);
  const auto found = known_.find(key);
  if (found != known_.end() && found->second.until > monotonic_ns()) {
    const Result<Addresses> copy = found->second.addresses;
    return done(copy);
  }
  std::vector<Callback>& waiting = waiting_[key];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;
  const bool queued = pool_.submit([this, host, port, key] {
    Result<Addresses> addresses = look_up(host, port);
    loop_.post([this, key, addresses] { remember(key, addresses); });
  });
  if (!queued) remember(key, fail(ErrorCode::kConnect, "too many DNS look-ups wait already"));
}

void Resolver::remember(const std::string& key, const Result<Addresses>& found) {
  if (known_.size() >= kHostsMax) known_.clear();
  known_[key] = Known{found, monotonic_ns() + (found ? kKeep : kKeepFailure)};
  const std::vector<Callback> waiting = std::move(waiting_[key]);
  waiting_.erase(key);
  for (const Callback& done : waiting) done(found);
}

}  // namespace hw::net
