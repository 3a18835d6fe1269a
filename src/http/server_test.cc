#include "http/server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "base/text.h"
#include "net/listener.h"

namespace hw::http {
namespace {

// Answers each request with its method, path and body; special paths do special things.
class EchoHandler final : public RequestHandler {
 public:
  ServerOptions settings;
  std::atomic<int> gone{0}, told{0}, uploading{0};
  std::string gone_reason;

  net::Task<void> serve(ServerConnection& client, const RequestHead& head) override {
    const std::string path(head.path), method(head.method);
    if (path == "/unread") client.end_connection();
    if (path != "/unread") {
      const Nanos until = monotonic_ns() + (path == "/slow" ? 10'000 : 80) * kMillisecond;
      if (path == "/slow") ++uploading;
      const Status read = co_await client.read_body(1000, until);
      if (!read) {
        client.end_connection();
        co_await answer(client, read.error().status(), read.error().message);
        co_return;
      }
    }
    if (path == "/tell") {
      client.watch();
      const net::Signals got = co_await client.event().wait(kGone | kDeadline);
      if ((got & kGone) == 0 && client.told_to_end()) ++told;
      co_await answer(client, 503, "told to end");
      co_return;
    }
    if (path == "/wait") {
      client.watch();
      co_await client.event().wait(kGone);
      gone_reason = client.gone_reason();
      ++gone;
      co_return;
    }
    if (path == "/flood") {
      const std::string lot(16 << 20, 'x');
      const std::string head_text =
          concat("HTTP/1.1 200 OK\r\ncontent-length: ", lot.size(), "\r\n\r\n");
      bool written = co_await client.write(std::string_view(head_text));
      if (written) written = co_await client.write(std::string_view(lot));
      if (!written) {
        gone_reason = client.gone_reason();
        ++gone;
      }
      co_return;
    }
    co_await answer(client, 200, concat(method, " ", path, " ", client.body()));
  }
  net::Task<void> answer(ServerConnection& client, int status, const std::string& body) {
    const std::string out =
        concat("HTTP/1.1 ", status, " X\r\ncontent-length: ", body.size(),
               client.keep_alive() ? "" : "\r\nconnection: close", "\r\n\r\n", body);
    co_await client.write(std::string_view(out));
  }
  void refuse(const Error& error, std::string_view target, std::string& out) override {
    const std::string body = concat(error.name(), " ", target);
    out = concat("HTTP/1.1 ", error.status(),
                 " X\r\nconnection: close\r\ncontent-length: ", body.size(), "\r\n\r\n", body);
  }
  const ServerOptions& options() override { return settings; }
};

// A server on a thread of its own.
class RunningServer {
 public:
  explicit RunningServer(EchoHandler& handler) : server_(loop_, handler, nullptr) {
    auto opened =
        net::Listener::open(loop_, "127.0.0.1", 0, [this](int fd) { server_.accept(fd); });
    REQUIRE(opened);
    listener_ = std::move(*opened);
    listener_->start();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RunningServer() {
    loop_.post([this] {
      listener_->stop();
      server_.abort_all();
      finish();
    });
    thread_.join();
  }
  void drain() {
    loop_.post([this] { server_.drain(); });
  }
  void end_exchanges() {
    loop_.post([this] { server_.end_exchanges(); });
  }
  int connections() { return server_.connections(); }
  uint16_t port() const { return listener_->port(); }

 private:
  void finish() {
    if (server_.connections() == 0) return loop_.stop();
    loop_.post([this] { finish(); });
  }
  net::Loop loop_{0};
  Server server_;
  std::unique_ptr<net::Listener> listener_;
  std::thread thread_;
};

class Client {
 public:
  explicit Client(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  ~Client() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void send(std::string_view bytes) {
    REQUIRE(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0);
  }
  void end_writing() { ::shutdown(fd_, SHUT_WR); }
  // Reads until `text` has come, the peer ends or two seconds pass without a byte.
  std::string read_until(std::string_view text) {
    std::string got;
    while (got.find(text) == std::string::npos || text.empty()) {
      pollfd waiting{fd_, POLLIN, 0};
      char bytes[4096];
      if (::poll(&waiting, 1, 2000) <= 0) break;
      const ssize_t read = ::recv(fd_, bytes, sizeof bytes, 0);
      if (read <= 0) break;
      got.append(bytes, static_cast<size_t>(read));
    }
    return got;
  }
  std::string read_to_end() { return read_until(""); }
  // Reads `size` bytes, or fewer where no more come within two seconds.
  void read_some(size_t size) {
    while (size > 0) {
      pollfd waiting{fd_, POLLIN, 0};
      char bytes[65536];
      if (::poll(&waiting, 1, 2000) <= 0) return;
      const ssize_t read = ::recv(fd_, bytes, std::min(size, sizeof bytes), 0);
      if (read <= 0) return;
      size -= static_cast<size_t>(read);
    }
  }

 private:
  int fd_;
};

void wait_for(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("requests that come together, byte by byte or chunked are served in their order") {
  EchoHandler handler;
  RunningServer server(handler);
  const std::string two =
      "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n"
      "GET /c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  {
    Client client(server.port());
    client.send(two);
    const std::string got = client.read_to_end();
    CHECK(got.find("POST /a abc") != std::string::npos);
    CHECK(got.find("POST /b def") != std::string::npos);
    CHECK(got.find("GET /c ") != std::string::npos);
  }
  Client client(server.port());
  for (char each : two) client.send({&each, 1});
  const std::string got = client.read_to_end();
  CHECK(got.find("POST /a abc") < got.find("POST /b def"));
  CHECK(got.find("POST /b def") < got.find("GET /c "));
}

TEST_CASE("100-continue is sent when the body is wanted and not before") {
  EchoHandler handler;
  RunningServer server(handler);
  Client client(server.port());
  client.send("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.read_until("\r\n\r\n").find("HTTP/1.1 100") == 0);
  client.send("hi");
  CHECK(client.read_until("hi").find("POST /a hi") != std::string::npos);

  Client refused(server.port());
  refused.send(
      "POST /unread HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  const std::string got = refused.read_to_end();
  CHECK(got.find("HTTP/1.1 200") == 0);
  CHECK(got.find("100 Continue") == std::string::npos);
}

TEST_CASE("a body above the limit is refused by its length and by its bytes, readably") {
  EchoHandler handler;
  RunningServer server(handler);
  Client by_length(server.port());
  by_length.send(concat("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n",
                        std::string(2000, 'x')));
  CHECK(by_length.read_to_end().find("HTTP/1.1 413") == 0);
  Client by_bytes(server.port());
  by_bytes.send(concat("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n",
                       std::string(2000, 'x'), "\r\n0\r\n\r\n"));
  CHECK(by_bytes.read_to_end().find("HTTP/1.1 413") == 0);
}

TEST_CASE("a client that is too slow with head or body is told which clock fired") {
  EchoHandler handler;
  handler.settings.head_ms = 60;
  RunningServer server(handler);
  Client head(server.port());
  head.send("POST /a HTTP/1.1\r\nHo");
  CHECK(head.read_to_end().find("timeout_head") != std::string::npos);
  Client body(server.port());
  body.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
  const std::string told = body.read_to_end();
  CHECK(told.find("HTTP/1.1 408") == 0);
  const size_t from = told.find("within ");
  REQUIRE(from != std::string::npos);
  const int limit = std::atoi(told.c_str() + from + 7);  // 80 ms from about the end of the head
  CHECK(limit >= 79);
  CHECK(limit <= 200);
  CHECK(told.find(" ms of its head (body_ms)") != std::string::npos);
}

TEST_CASE("an idle connection is closed after idle_ms") {
  EchoHandler handler;
  handler.settings.idle_ms = 50;
  RunningServer server(handler);
  Client client(server.port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(client.read_to_end().find("GET /a") != std::string::npos);
}

TEST_CASE("a client that leaves while it is served is noticed, with and without pipelined bytes") {
  for (std::string_view extra : {"", "GET /late HTTP/1.1\r\n"}) {
    CAPTURE(extra);
    EchoHandler handler;
    RunningServer server(handler);
    Client client(server.port());
    client.send(concat("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n", extra));
    wait_for([&] { return server.connections() == 1; });
    client.close();
    wait_for([&] { return handler.gone == 1; });
    CHECK(handler.gone == 1);
    CHECK(handler.gone_reason.substr(0, 6) == "client");
  }
}

TEST_CASE("a half-closed client is served where the policy says so") {
  EchoHandler handler;
  handler.settings.half_close = HalfClosePolicy::kServe;
  RunningServer server(handler);
  Client client(server.port());
  client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
  client.end_writing();
  CHECK(client.read_to_end().find("POST /a hi") != std::string::npos);
}

TEST_CASE("a client that takes nothing stalls itself only, and is given up after write_stall_ms") {
  constexpr int64_t kStallMs = 500;
  EchoHandler handler;
  handler.settings.write_stall_ms = kStallMs;
  RunningServer server(handler);
  Client stuck(server.port());
  stuck.send("GET /flood HTTP/1.1\r\nHost: h\r\n\r\n");
  Client other(server.port());
  other.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(other.read_until("GET /a").find("HTTP/1.1 200") == 0);
  const Nanos began = monotonic_ns();
  wait_for([&] { return handler.gone == 1; });
  const int64_t took_ms = (monotonic_ns() - began) / kMillisecond;
  CHECK(handler.gone_reason == "write stalled");
  CHECK(took_ms >= kStallMs - 100);
  CHECK(took_ms < 2 * kStallMs - 100);
}

TEST_CASE("a client that takes a little now and then is not given up") {
  EchoHandler handler;
  handler.settings.write_stall_ms = 300;
  RunningServer server(handler);
  Client slow(server.port());
  slow.send("GET /flood HTTP/1.1\r\nHost: h\r\n\r\n");
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    slow.read_some(1 << 20);
  }
  CHECK(handler.gone == 0);
  slow.close();
  wait_for([&] { return handler.gone == 1; });
}

TEST_CASE("a head that cannot be read is refused and the connection closed") {
  EchoHandler handler;
  RunningServer server(handler);
  Client client(server.port());
  client.send(
      "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string got = client.read_to_end();
  CHECK(got.find("HTTP/1.1 400") == 0);
  CHECK(got.find("bad_request /p") != std::string::npos);
}

TEST_CASE("a draining server ends idle connections and tells the others to close") {
  EchoHandler handler;
  RunningServer server(handler);
  Client idle(server.port());
  idle.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  idle.read_until("GET /a");
  server.drain();
  CHECK(idle.read_to_end().empty());
  Client late(server.port());
  late.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(late.read_to_end().find("connection: close") != std::string::npos);
}

TEST_CASE(
    "above connections_max a client is told so in the shape of what it asks, and then served") {
  EchoHandler handler;
  handler.settings.connections_max = 1;
  RunningServer server(handler);
  Client first(server.port());
  first.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  first.read_until("GET /a");
  {
    Client second(server.port());
    const std::string body(100'000, 'x');  // unread: it must not turn the answer into a reset
    second.send(
        concat("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
    const std::string told = second.read_to_end();
    CHECK(told.find("HTTP/1.1 503") == 0);
    CHECK(told.find("overloaded /b") != std::string::npos);
  }
  Client silent(server.port());
  CHECK(silent.read_until("overloaded").find("HTTP/1.1 503") == 0);  // after a while
  silent.close();
  first.send("GET /again HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(first.read_until("GET /again").find("HTTP/1.1 200") == 0);
  first.close();
  wait_for([&] { return server.connections() == 0; });
  Client third(server.port());
  third.send("GET /c HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(third.read_until("GET /c").find("HTTP/1.1 200") == 0);
}

TEST_CASE("when the server's time is over everyone is told: who waits, uploads, or sends a head") {
  EchoHandler handler;
  RunningServer server(handler);
  Client begins(server.port());
  begins.send("GET /a HTTP/1.1\r\nHo");  // read before what is sent later on the same loop
  Client waits(server.port()), uploads(server.port());
  waits.send("GET /tell HTTP/1.1\r\nHost: h\r\n\r\n");
  uploads.send("POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
  wait_for([&] { return handler.uploading == 1; });
  server.end_exchanges();
  CHECK(waits.read_to_end().find("told to end") != std::string::npos);
  CHECK(handler.told == 1);
  CHECK(uploads.read_to_end().find("shutting down") != std::string::npos);
  CHECK(begins.read_to_end().find("draining") != std::string::npos);
}

}  // namespace
}  // namespace hw::http
