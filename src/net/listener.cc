#include "net/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "net/poller.h"
#include "net/resolver.h"
#include "net/socket.h"
#include "net/timers.h"

namespace hw::net {
namespace {

constexpr int kBacklog = 4096;
// Out of descriptors, accepting again at once would only spin.
constexpr Nanos kPauseWhenFull = 100 * kMillisecond;

}  // namespace

struct Listener::Impl final : Pollable {
  struct Pause final : Deadline {
    Impl& impl;
    explicit Pause(Impl& i) : Deadline(i.loop.timers()), impl(i) {}
    void on_deadline() override { impl.accept_all(); }
  };

  Loop& loop;
  int fd;  // -1: closed
  OnAccept on_accept;
  Pause pause{*this};

  Impl(Loop& l, int f, OnAccept call) : loop(l), fd(f), on_accept(std::move(call)) {}
  ~Impl() override { close(); }

  void close() {
    if (fd < 0) return;
    loop.poller().remove(fd, *this);
    ::close(fd);
    fd = -1;
  }

  void on_ready(Readiness) override { accept_all(); }

  void accept_all() {
    while (fd >= 0) {
      const int accepted = ::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (accepted >= 0) {
        set_stream_options(accepted);
        on_accept(accepted);
        continue;
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        log_error("net", concat("cannot accept a connection: ", std::strerror(errno)));
        return pause.set(monotonic_ns() + kPauseWhenFull);
      }
      // ECONNABORTED and its like concern that one connection only.
    }
  }
};

namespace {

enum class Sharing : uint8_t { kAlone, kReusePort };

Result<int> bind_to(const Address& address, const std::string& name, Sharing sharing) {
  const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return fail(ErrorCode::kConfig, concat("cannot open a socket: ", std::strerror(errno)));
  }
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (sharing == Sharing::kReusePort) {
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  }
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0 &&
      ::listen(fd, kBacklog) == 0) {
    return fd;
  }
  const std::string reason = std::strerror(errno);
  ::close(fd);
  return fail(ErrorCode::kConfig, concat("cannot listen on ", name, ": ", reason));
}

uint16_t bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

Listener::Listener(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)), port_(bound_port(impl_->fd)) {}
Listener::~Listener() {
  stop();
  Poller& poller = impl_->loop.poller();
  poller.retire(std::move(impl_));  // may be one of its own calls
}

Result<std::unique_ptr<Listener>> Listener::open(Loop& loop, const std::string& host, uint16_t port,
                                                 OnAccept on_accept) {
  Result<Addresses> addresses = look_up(host, port);
  if (!addresses) return fail(ErrorCode::kConfig, addresses.error().message);
  Result<int> fd = bind_to(addresses->front(), concat(host, ":", port), Sharing::kReusePort);
  if (!fd) return fail(fd.error());
  return std::unique_ptr<Listener>(
      new Listener(std::make_unique<Impl>(loop, *fd, std::move(on_accept))));
}

Status Listener::check_free(const std::string& host, uint16_t port) {
  if (port == 0) return {};
  Result<Addresses> addresses = look_up(host, port);
  if (!addresses) return fail(ErrorCode::kConfig, addresses.error().message);
  const Result<int> fd = bind_to(addresses->front(), concat(host, ":", port), Sharing::kAlone);
  if (!fd) return fail(fd.error());
  ::close(*fd);
  return {};
}

bool Listener::is_taken(const Error& error) {
  return error.message.ends_with(std::strerror(EADDRINUSE));
}

void Listener::start() {
  impl_->loop.poller().add(impl_->fd, *impl_);
}

void Listener::stop() {
  impl_->pause.clear();
  impl_->close();
}

}  // namespace hw::net
