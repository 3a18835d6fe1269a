#include "loopback.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"

namespace hw::bench {
namespace {

constexpr int kBacklog = 4096;

[[noreturn]] void stop(const char* what) {
  perror(what);
  exit(2);
}

sockaddr_in loopback_address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void set_no_delay(int fd) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

}  // namespace

int listen_loopback(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) stop("socket");
  int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address = loopback_address(port);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) stop("bind");
  if (listen(fd, kBacklog) != 0) stop("listen");
  return fd;
}

int port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) stop("getsockname");
  return ntohs(address.sin_port);
}

int accept_loopback(int listener) {
  int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) set_no_delay(fd);
  return fd;
}

int connect_loopback(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in address = loopback_address(port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    return -1;
  }
  set_no_delay(fd);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return fd;
}

void bound_lifetime(unsigned seconds) {
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  alarm(seconds);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (fd_ < 0) stop("epoll_create1");
}

void Poller::add(int fd, uint32_t events, void* owner) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = owner;
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0) stop("epoll_ctl add");
}

void Poller::change(int fd, uint32_t events, void* owner) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = owner;
  if (epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event) != 0) stop("epoll_ctl mod");
}

std::span<epoll_event> Poller::wait(int64_t until_ns) {
  int64_t left = std::clamp<int64_t>(until_ns - monotonic_ns(), 0, kSecond);
  timespec timeout{};
  timeout.tv_sec = left / kSecond;
  timeout.tv_nsec = left % kSecond;
  int ready = epoll_pwait2(fd_, events_, kEventsMax, &timeout, nullptr);
  return {events_, static_cast<size_t>(std::max(ready, 0))};
}

}  // namespace hw::bench
