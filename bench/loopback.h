// Sockets and waiting for the benchmark's programs: loopback only, non-blocking, level-triggered
// epoll with a wait exact to the nanosecond.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

namespace hw::bench {

// A listening socket on 127.0.0.1; port 0 lets the kernel choose. Stops the program on failure.
int listen_loopback(int port);
// The port a socket is bound to.
int port_of(int fd);
// One waiting connection, non-blocking and without Nagle's delay; -1 when there is none.
int accept_loopback(int listener);
// A connection to 127.0.0.1, established, then non-blocking and without Nagle's delay;
// -1 on failure.
int connect_loopback(int port);

// Ignores SIGPIPE, raises the limit of open files, and makes the program end with its parent and
// after `seconds` at the latest, so that an aborted benchmark leaves nothing running.
void bound_lifetime(unsigned seconds);

// An epoll set whose entries carry a pointer.
class Poller {
 public:
  Poller();
  void add(int fd, uint32_t events, void* owner);
  void change(int fd, uint32_t events, void* owner);
  // Waits until something is ready or the monotonic clock shows `until_ns`.
  std::span<epoll_event> wait(int64_t until_ns);

 private:
  static constexpr int kEventsMax = 512;
  int fd_;
  epoll_event events_[kEventsMax];
};

}  // namespace hw::bench
