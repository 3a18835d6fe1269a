// AnsweringServer: a thread that answers each connection with fixed bytes; stands in for whatever a
// test asks over HTTP.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "base/text.h"

namespace hw::app {

class AnsweringServer {
 public:
  // `answer` is sent byte by byte when `drip` is set; then the connection is closed.
  enum class Pace : unsigned char { kAtOnce, kDrip };
  explicit AnsweringServer(std::string answer, Pace pace = Pace::kAtOnce, uint16_t port = 0)
      : answer_(std::move(answer)), pace_(pace) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(fd_, 16);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~AnsweringServer() {
    ending_ = true;
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  AnsweringServer(const AnsweringServer&) = delete;
  AnsweringServer& operator=(const AnsweringServer&) = delete;

  uint16_t port() const { return port_; }
  // The last request's bytes.
  std::string received() {
    const std::lock_guard lock(mutex_);
    return received_;
  }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept(fd_, nullptr, nullptr);
      if (client < 0) return;
      read_request(client);
      const size_t step = pace_ == Pace::kDrip ? 1 : answer_.size();
      for (size_t at = 0; at < answer_.size(); at += step) {
        if (::send(client, answer_.data() + at, step, MSG_NOSIGNAL) < 0) break;
      }
      // Without an answer the connection stays open until the server ends.
      pollfd waiting = {client, POLLIN, 0};
      while (answer_.empty() && !ending_) ::poll(&waiting, 1, 10);
      ::close(client);
    }
  }

  // Up to the blank line and the content-length behind it.
  void read_request(int client) {
    std::string request;
    char block[4096];
    for (;;) {
      const size_t head = request.find("\r\n\r\n");
      if (head != std::string::npos) {
        std::string fields = request.substr(0, head);
        for (char& c : fields) c = lower(c);
        const size_t length = fields.find("content-length: ");
        const size_t body = length == std::string::npos
                                ? 0
                                : static_cast<size_t>(std::stoi(fields.substr(length + 16)));
        if (request.size() >= head + 4 + body) break;
      }
      const ssize_t count = ::recv(client, block, sizeof block, 0);
      if (count <= 0) break;
      request.append(block, static_cast<size_t>(count));
    }
    const std::lock_guard lock(mutex_);
    received_ = std::move(request);
  }

  const std::string answer_;
  const Pace pace_;
  int fd_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::string received_;
  std::thread thread_;
};

}  // namespace hw::app
