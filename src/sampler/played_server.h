// PlayedServer: a server in the test's own process that plays what a script says and notes when it
// wrote each piece, so that a client's stamps can be held against it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/dial.h"
#include "net/event.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/tls.h"
#include "sampler/schedule_timer.h"

namespace hw::sampler {

// One write, so long after the one before it, or after the request.
struct PlayedPiece {
  Nanos after_ns = 0;
  std::string bytes;
};

// The answer to one request.
struct PlayedAnswer {
  // What happens to the connection behind the last piece.
  enum class Then : uint8_t { kKeep, kClose, kReset, kSilence };
  std::vector<PlayedPiece> pieces;
  Then then = Then::kKeep;
};

class PlayedServer {
 public:
  // Gives the answer to the request with that number, from 0, by its head and body. Called on the
  // server's thread.
  using Script = std::function<PlayedAnswer(size_t number, const std::string& request)>;

  enum class Wire : uint8_t { kPlain, kTls };
  PlayedServer(Wire wire, Script script) : script_(std::move(script)) {
    if (wire == Wire::kTls) {
      tls_ = std::move(
          *net::TlsContext::server("src/net/testdata/server.pem", "src/net/testdata/server.key"));
    }
    auto listener = net::Listener::open(
        loop_, "127.0.0.1", 0, [this](int fd) { loop_.spawn(serve(net::Socket(loop_, fd))); });
    listener_ = std::move(*listener);
    listener_->start();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~PlayedServer() {
    loop_.post([this] {
      listener_->stop();
      for (net::Event* open : open_) open->raise_later(kStop);
      is_stopping_ = true;
      if (open_.empty()) loop_.stop();
    });
    thread_.join();
  }

  uint16_t port() const { return listener_->port(); }
  // When each piece of the answer to that request was about to be written, monotonic.
  std::vector<Nanos> written(size_t number) {
    const std::lock_guard<std::mutex> lock(lock_);
    return written_.at(number);
  }
  size_t requests() {
    const std::lock_guard<std::mutex> lock(lock_);
    return written_.size();
  }
  size_t connections() {
    const std::lock_guard<std::mutex> lock(lock_);
    return connections_;
  }

 private:
  static constexpr net::Signals kReady = 1, kDue = 2, kStop = 4;

  struct Handler final : net::SocketHandler {
    net::Event& event;
    explicit Handler(net::Event& e) : event(e) {}
    void on_readable() override { event.raise(kReady); }
    void on_writable() override { event.raise(kReady); }
  };

  net::Task<void> serve(net::Socket socket) {
    net::Event event(loop_);
    Handler handler(event);
    open_.push_back(&event);
    {
      const std::lock_guard<std::mutex> lock(lock_);
      ++connections_;
    }
    socket.set_handler(&handler);
    bool going = true;
    if (tls_ != nullptr) going = co_await shake_hands(socket, event);
    while (going) {
      const std::string request = co_await read_request(socket, event);
      if (request.empty()) break;
      going = co_await answer(socket, event, request);
    }
    std::erase(open_, &event);
    if (is_stopping_ && open_.empty()) loop_.stop();
  }

  net::Task<bool> shake_hands(net::Socket& socket, net::Event& event) {
    socket.start_tls_server(*tls_);
    for (;;) {
      const net::IoState state = socket.tls_handshake();
      if (state == net::IoState::kOk) co_return true;
      if (state != net::IoState::kWouldBlock) co_return false;
      const net::Signals raised = co_await event.wait(kReady | kStop);
      if ((raised & kStop) != 0) co_return false;
    }
  }

  // Empty where the client has left.
  net::Task<std::string> read_request(net::Socket& socket, net::Event& event) {
    std::string bytes;
    char block[4096];
    for (;;) {
      const net::IoResult io = socket.read(block, sizeof block);
      if (io.state == net::IoState::kOk) {
        bytes.append(block, io.bytes);
        if (is_whole(bytes)) co_return bytes;
        continue;
      }
      if (io.state != net::IoState::kWouldBlock) co_return std::string();
      socket.want_read();
      const net::Signals raised = co_await event.wait(kReady | kStop);
      if ((raised & kStop) != 0) co_return std::string();
    }
  }

  static bool is_whole(const std::string& bytes) {
    const size_t end = bytes.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const size_t length = bytes.find("content-length: ");
    if (length == std::string::npos || length > end) return true;
    return bytes.size() >= end + 4 + std::stoul(bytes.substr(length + 16));
  }

  // True where the connection is kept.
  net::Task<bool> answer(net::Socket& socket, net::Event& event, const std::string& request) {
    size_t number = 0;
    {
      const std::lock_guard<std::mutex> lock(lock_);
      number = written_.size();
      written_.emplace_back();
    }
    const PlayedAnswer answer = script_(number, request);
    ScheduleTimer timer(loop_, [&event] { event.raise(kDue); });
    Nanos at = monotonic_ns();
    for (const PlayedPiece& piece : answer.pieces) {
      at += piece.after_ns;
      if (piece.after_ns > 0) {
        timer.arm(at);
        const net::Signals raised = co_await event.wait(kDue | kStop);
        if ((raised & kStop) != 0) co_return false;
      }
      // Before the write: a client cannot see it earlier, nor ask for the stamp.
      {
        const std::lock_guard<std::mutex> lock(lock_);
        written_[number].push_back(monotonic_ns());
      }
      socket.write(piece.bytes.data(), piece.bytes.size());
    }
    switch (answer.then) {
      case PlayedAnswer::Then::kKeep:
        co_return true;
      case PlayedAnswer::Then::kClose:
        co_return false;
      case PlayedAnswer::Then::kReset:
        socket.reset();
        co_return false;
      case PlayedAnswer::Then::kSilence:
        co_await wait_for_end(socket, event);
        co_return false;
    }
    co_return false;
  }

  net::Task<void> wait_for_end(net::Socket& socket, net::Event& event) {
    char block[256];
    for (;;) {
      const net::IoResult io = socket.read(block, sizeof block);
      if (io.state == net::IoState::kOk) continue;
      if (io.state != net::IoState::kWouldBlock) co_return;
      socket.want_read();
      const net::Signals raised = co_await event.wait(kReady | kStop);
      if ((raised & kStop) != 0) co_return;
    }
  }

  Script script_;
  net::Loop loop_{0};
  std::unique_ptr<net::TlsContext> tls_;
  std::unique_ptr<net::Listener> listener_;
  std::vector<net::Event*> open_;  // of the loop's thread
  bool is_stopping_ = false;
  std::mutex lock_;
  std::vector<std::vector<Nanos>> written_;  // guarded by lock_
  size_t connections_ = 0;                   // likewise
  std::thread thread_;
};

}  // namespace hw::sampler
