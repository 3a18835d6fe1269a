#include "net/socket.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "net/event.h"

namespace hw::net {
namespace {

constexpr Signals kReadable = 1, kWritable = 2;

struct Side final : SocketHandler {
  Socket socket;
  Event event;
  int calls = 0;
  Side(Loop& loop, int fd) : socket(loop, fd), event(loop) { socket.set_handler(this); }
  void on_readable() override {
    ++calls;
    event.raise(kReadable);
  }
  void on_writable() override { event.raise(kWritable); }
};

template <class Make>
void run_on_loop(Make make) {
  Loop loop(0);
  auto whole = [](Loop& on, Make& body) -> Task<void> {
    co_await body(on);
    on.stop();
  };
  loop.spawn(whole(loop, make));
  loop.run();
}

// A connected pair: ours does not block, theirs does.
std::array<int, 2> unix_pair() {
  std::array<int, 2> fds;
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
  ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
  return fds;
}

std::array<int, 2> tcp_pair() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listener, any, size) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  REQUIRE(::getsockname(listener, any, &size) == 0);
  const int theirs = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(theirs, any, size) == 0);
  const int ours = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
  REQUIRE(ours >= 0);
  ::close(listener);
  return {ours, theirs};
}

void put(int fd, std::string_view text) {
  REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

TEST_CASE("an end that came together with bytes is told when the bytes have been read") {
  run_on_loop([](Loop& loop) -> Task<void> {
    const auto [ours, theirs] = unix_pair();
    Side side(loop, ours);
    put(theirs, "bytes");
    ::close(theirs);
    side.socket.want_read();
    co_await side.event.wait(kReadable);
    char bytes[64];
    IoResult got = side.socket.read(bytes, sizeof bytes);
    CHECK(std::string_view(bytes, got.bytes) == "bytes");
    side.socket.want_read();
    co_await side.event.wait(kReadable);
    got = side.socket.read(bytes, sizeof bytes);
    CHECK(got.state == IoState::kEof);
  });
}

TEST_CASE("bytes that a read left are told again, and readiness nobody asked for is kept") {
  run_on_loop([](Loop& loop) -> Task<void> {
    const auto [ours, theirs] = unix_pair();
    Side side(loop, ours);
    put(theirs, "123456");
    side.socket.want_read();
    co_await side.event.wait(kReadable);
    char bytes[3];
    CHECK(side.socket.read(bytes, sizeof bytes).bytes == 3);
    side.socket.want_read();
    co_await side.event.wait(kReadable);
    CHECK(side.socket.read(bytes, sizeof bytes).bytes == 3);

    // While nobody handles the socket, bytes come; the next handler hears of them.
    side.socket.set_handler(nullptr);
    put(theirs, "7");
    const auto [other, far] = unix_pair();
    Side clock(loop, other);
    put(far, "x");
    clock.socket.want_read();
    co_await clock.event.wait(kReadable);
    side.socket.set_handler(&side);
    side.socket.want_read();
    co_await side.event.wait(kReadable);
    CHECK(side.socket.read(bytes, sizeof bytes).bytes == 1);
    CHECK(side.calls == 3);
    ::close(theirs);
    ::close(far);
  });
}

TEST_CASE("a write that found no room is told when there is some, each time") {
  run_on_loop([](Loop& loop) -> Task<void> {
    const auto [ours, theirs] = tcp_pair();
    Side side(loop, ours);
    const std::string block(64 * 1024, 'x');
    std::string sink(1 << 20, ' ');
    for (int round = 0; round < 3; ++round) {
      size_t written = 0;
      for (;;) {
        const IoResult put = side.socket.write(block.data(), block.size());
        if (put.state != IoState::kOk) break;
        written += put.bytes;
      }
      CHECK(written > 0);
      side.socket.want_write();
      for (size_t read = 0; read < written;) {
        const ssize_t got = ::read(theirs, sink.data(), sink.size());
        REQUIRE(got > 0);
        read += static_cast<size_t>(got);
      }
      co_await side.event.wait(kWritable);
    }
    ::close(theirs);
  });
}

TEST_CASE("after the peer's end only a reset is told to who waits for a break") {
  run_on_loop([](Loop& loop) -> Task<void> {
    const auto [ours, theirs] = tcp_pair();
    Side side(loop, ours);
    ::shutdown(theirs, SHUT_WR);
    side.socket.want_read();
    co_await side.event.wait(kReadable);
    char byte;
    CHECK(side.socket.read(&byte, 1).state == IoState::kEof);
    side.socket.want_break();
    // Another socket's readiness takes the loop round without a call for this one.
    const auto [other, far] = unix_pair();
    Side clock(loop, other);
    put(far, "x");
    clock.socket.want_read();
    co_await clock.event.wait(kReadable);
    CHECK(side.calls == 1);
    const linger at_once{1, 0};
    ::setsockopt(theirs, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(theirs);
    co_await side.event.wait(kReadable);
    CHECK(side.calls == 2);
    ::close(far);
  });
}

// Closes another socket in its own call.
struct Closer final : SocketHandler {
  Socket socket;
  Socket* other = nullptr;
  Event& event;
  Closer(Loop& loop, int fd, Event& e) : socket(loop, fd), event(e) {
    socket.set_handler(this);
    socket.want_read();
  }
  void on_readable() override {
    other->close();
    socket.close();
    event.raise(kReadable);
  }
  void on_writable() override {}
};

TEST_CASE("a socket that another's call closed in the same round hears nothing more") {
  run_on_loop([](Loop& loop) -> Task<void> {
    const auto [a, far_a] = unix_pair();
    const auto [b, far_b] = unix_pair();
    Event event(loop);
    Closer first(loop, a, event), second(loop, b, event);
    first.other = &second.socket;
    second.other = &first.socket;
    put(far_a, "x");
    put(far_b, "x");
    co_await event.wait(kReadable);
    CHECK(!first.socket.is_open());
    CHECK(!second.socket.is_open());
    ::close(far_a);
    ::close(far_b);
  });
}

}  // namespace
}  // namespace hw::net
