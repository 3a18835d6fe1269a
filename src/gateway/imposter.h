// Imposter: an upstream for tests, on a thread of its own with blocking sockets. It records what it
// is sent and answers with the bytes that the test gives it, in pieces, then closes or stays open.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/text.h"

namespace hw::gateway {

// A listening or connected test socket, closed with its owner.
class TestSocket {
 public:
  explicit TestSocket(int fd = -1) : fd_(fd) {}
  TestSocket(TestSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  TestSocket& operator=(TestSocket&& other) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~TestSocket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

  // Connects to 127.0.0.1:`port`.
  static TestSocket connect(uint16_t port) {
    TestSocket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    HW_ASSERT(::connect(made.fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
    return made;
  }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }
  // Reads until `until` says that it has enough, the peer ends, or nothing comes for `quiet_ms`.
  std::string read_until(const std::function<bool(const std::string&)>& until,
                         int quiet_ms = 5000) const {
    std::string got;
    char bytes[16384];
    while (!until(got)) {
      pollfd waiting{fd_, POLLIN, 0};
      if (::poll(&waiting, 1, quiet_ms) <= 0) break;
      const ssize_t read = ::recv(fd_, bytes, sizeof bytes, 0);
      if (read <= 0) break;
      got.append(bytes, static_cast<size_t>(read));
    }
    return got;
  }
  std::string read_to_end(int quiet_ms = 5000) const {
    return read_until([](const std::string&) { return false; }, quiet_ms);
  }
  // True when the peer has closed, or does so within `wait_ms`.
  bool peer_closed(int wait_ms) const {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, wait_ms) <= 0) return false;
    char byte;
    return ::recv(fd_, &byte, 1, MSG_PEEK) <= 0;
  }

 private:
  int fd_;
};

// True when `text` holds a whole request or response with a content-length (or without a body).
inline bool is_whole_message(const std::string& text) {
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  for (size_t at = 0; at < end;) {
    const size_t line_end = text.find("\r\n", at);
    const std::string_view line = std::string_view(text).substr(at, line_end - at);
    constexpr std::string_view kName = "content-length:";
    size_t length = 0;
    if (line.size() > kName.size() && equal_ignoring_case(line.substr(0, kName.size()), kName) &&
        parse_number(trim(line.substr(kName.size())), length)) {
      return text.size() >= end + 4 + length;
    }
    at = line_end + 2;
  }
  return true;
}

class Imposter {
 public:
  // Serves one connection after the other by `serve`, which returns when it is done with it.
  using Serve = std::function<void(Imposter&, TestSocket& client)>;

  explicit Imposter(Serve serve)
      : serve_(std::move(serve)), listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    HW_ASSERT(::bind(listening_.fd(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    HW_ASSERT(::listen(listening_.fd(), 64) == 0);
    socklen_t size = sizeof at;
    ::getsockname(listening_.fd(), reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Imposter() {
    ending_ = true;
    thread_.join();
    for (std::thread& each : connections_) each.join();
  }

  uint16_t port() const { return port_; }
  // Reads one request off `client` and records it; empty when the client ends instead.
  std::string take_request(TestSocket& client) {
    std::string got = client.read_until(is_whole_message, 3000);
    if (!got.empty()) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(got);
    }
    return got;
  }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  bool ending() const { return ending_; }

  // Answers every request of every connection with the same bytes.
  static Serve always(std::string answer) {
    return [answer](Imposter& self, TestSocket& client) {
      while (!self.ending()) {
        if (self.take_request(client).empty()) return;
        client.send(answer);
      }
    };
  }

 private:
  void run() {
    while (!ending_) {
      pollfd waiting{listening_.fd(), POLLIN, 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      const int fd = ::accept(listening_.fd(), nullptr, nullptr);
      if (fd < 0) continue;
      connections_.emplace_back([this, fd] {
        TestSocket client(fd);
        serve_(*this, client);
      });
    }
  }

  Serve serve_;
  TestSocket listening_;
  uint16_t port_ = 0;
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<std::thread> connections_;
  std::thread thread_;
};

}  // namespace hw::gateway
