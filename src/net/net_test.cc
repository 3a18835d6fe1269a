#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "net/blocking_pool.h"
#include "net/dial.h"
#include "net/event.h"
#include "net/listener.h"
#include "net/timers.h"
#include "net/tls.h"

namespace hw::net {
namespace {

const std::string kData = "src/net/testdata/";

std::string contents_of(const std::string& name) {
  std::ifstream file(kData + name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Runs `task` on a loop of its own until it is through.
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

struct Recorder final : Deadline {
  std::vector<int>& fired;
  Event& event;
  int name;
  Recorder(Timers& timers, std::vector<int>& f, Event& e, int n)
      : Deadline(timers), fired(f), event(e), name(n) {}
  void on_deadline() override {
    fired.push_back(name);
    event.raise(1);
  }
};

TEST_CASE("deadlines fire in the order of their times, also after they were moved either way") {
  std::vector<int> fired;
  run_on_loop([&fired](Loop& loop) -> Task<void> {
    Event event(loop);
    Recorder a(loop.timers(), fired, event, 1), b(loop.timers(), fired, event, 2),
        c(loop.timers(), fired, event, 3);
    const Nanos now = monotonic_ns();
    a.set(now + 10 * kMillisecond);
    b.set(now + 20 * kMillisecond);
    c.set(now + 30 * kMillisecond);
    a.set(now + 40 * kMillisecond);  // later: lazily
    c.set(now + 5 * kMillisecond);   // earlier
    while (fired.size() < 3) co_await event.wait(1);
  });
  CHECK(fired == std::vector<int>{3, 2, 1});
}

TEST_CASE("a deadline that was cleared or destroyed does not fire") {
  std::vector<int> fired;
  run_on_loop([&fired](Loop& loop) -> Task<void> {
    Event event(loop);
    Recorder kept(loop.timers(), fired, event, 1), cleared(loop.timers(), fired, event, 2);
    const Nanos now = monotonic_ns();
    {
      Recorder gone(loop.timers(), fired, event, 3);
      gone.set(now + kMillisecond);
    }
    cleared.set(now + kMillisecond);
    cleared.clear();
    kept.set(now + 10 * kMillisecond);
    while (fired.empty()) co_await event.wait(1);
  });
  CHECK(fired == std::vector<int>{1});
}

TEST_CASE("an event keeps signals that nobody has asked for yet and gives each once") {
  run_on_loop([](Loop& loop) -> Task<void> {
    Event event(loop);
    event.raise(1 | 4);
    Signals got = co_await event.wait(1 | 2);
    CHECK(got == 1);
    CHECK(event.pending(7) == 4);
    event.raise_later(2);
    got = co_await event.wait(2 | 4);
    CHECK(got == (2 | 4));
    CHECK(event.pending(7) == 0);
  });
}

TEST_CASE("a blocking job runs off the loop and its coroutine goes on when it is done") {
  BlockingPool pool(1);
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  run_on_loop([&](Loop& loop) -> Task<void> {
    std::function<void()> job = [&there] { there = std::this_thread::get_id(); };
    const bool ran = co_await pool.run(loop, job);
    CHECK(ran);
  });
  CHECK(there != std::thread::id());
  CHECK(there != here);
}

// A job that waits until it is let go.
struct Held {
  std::mutex lock;
  std::condition_variable changed;
  int running = 0;
  bool go = false;
  std::function<void()> job() {
    return [this] {
      std::unique_lock guard(lock);
      ++running;
      changed.notify_all();
      changed.wait(guard, [this] { return go; });
    };
  }
  // Waits until `count` jobs run; false after five seconds.
  bool wait_for(int count) {
    std::unique_lock guard(lock);
    return changed.wait_for(guard, std::chrono::seconds(5), [&] { return running >= count; });
  }
  void let_go() {
    const std::lock_guard guard(lock);
    go = true;
    changed.notify_all();
  }
};

TEST_CASE("a blocking pool runs as many jobs at once as it may have threads, and no more wait") {
  Held held;
  {
    BlockingPool pool(2, 3);
    CHECK(pool.submit(held.job()));
    CHECK(held.wait_for(1));
    CHECK(pool.submit(held.job()));
    CHECK(held.wait_for(2));  // a second thread: the first is busy
    for (int waiting = 0; waiting < 3; ++waiting) CHECK(pool.submit(held.job()));
    CHECK(!pool.submit(held.job()));
    held.let_go();
    CHECK(held.wait_for(5));
  }
  CHECK(held.running == 5);
}

// One side of a connection that raises signals.
struct Side final : SocketHandler {
  Socket socket;
  Event event;
  explicit Side(Loop& loop) : event(loop) {}
  void take(Socket s) {
    socket = std::move(s);
    socket.set_handler(this);
  }
  void on_readable() override { event.raise(1); }
  void on_writable() override { event.raise(2); }

  Task<std::string> read_all(size_t size) {
    std::string got;
    std::array<char, 4096> bytes;
    while (got.size() < size) {
      const IoResult result = socket.read(bytes.data(), bytes.size());
      if (result.state == IoState::kWouldBlock) {
        socket.want_read();
        co_await event.wait(1);
        continue;
      }
      if (result.state != IoState::kOk) break;
      got.append(bytes.data(), result.bytes);
    }
    co_return got;
  }
  Task<void> write_all(std::string_view text) {
    while (!text.empty()) {
      const IoResult result = socket.write(text.data(), text.size());
      if (result.state == IoState::kOk) {
        text.remove_prefix(result.bytes);
        continue;
      }
      if (result.state != IoState::kWouldBlock) co_return;
      socket.want_write();
      co_await event.wait(2);
    }
  }
  Task<bool> handshake() {
    for (;;) {
      const IoState state = socket.tls_handshake();
      if (state != IoState::kWouldBlock) co_return state == IoState::kOk;
      co_await event.wait(1 | 2);
    }
  }
};

Task<void> serve_tls(Side& side, TlsContext& context, bool& done, size_t expect, std::string& got) {
  side.socket.start_tls_server(context);
  const bool ok = co_await side.handshake();
  if (ok) {
    got = co_await side.read_all(expect);
    co_await side.write_all(got);
  }
  done = true;
}

Task<Result<Socket>> dial(Loop& loop, Resolver& resolver, const DialTarget& target) {
  Event event(loop);
  Dial dialling(loop, resolver, target, event, 1);
  while (!dialling.finished()) co_await event.wait(1);
  co_return dialling.take();
}

TEST_CASE("TLS verifies chain and host name, and carries more than a record both ways") {
  struct Case {
    std::string ca, host;  // the certificates trusted
    bool works;
    const char* says;
  };
  const Case cases[] = {
      {contents_of("ca.pem"), "localhost", true, ""},
      {contents_of("ca.pem"), "127.0.0.1", true, ""},
      {"", "localhost", false, "certificate refused"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.host);
    CAPTURE(each.ca);
    BlockingPool pool(1);
    run_on_loop([&](Loop& loop) -> Task<void> {
      Result<std::unique_ptr<TlsContext>> server =
          TlsContext::server(kData + "server.pem", kData + "server.key");
      Result<std::unique_ptr<TlsContext>> client = TlsContext::client(each.ca);
      REQUIRE(server);
      REQUIRE(client);
      Side accepted(loop), dialled(loop);
      bool served = false;
      std::string server_got;
      const std::string text(300'000, 'x');
      Result<std::unique_ptr<Listener>> listener =
          Listener::open(loop, "127.0.0.1", 0, [&](int fd) {
            accepted.take(Socket(loop, fd));
            loop.spawn(serve_tls(accepted, **server, served, text.size(), server_got));
          });
      REQUIRE(listener);
      (*listener)->start();
      Resolver resolver(loop, pool);
      DialTarget target;
      target.host = each.host;
      target.port = (*listener)->port();
      target.tls = client->get();
      Result<Socket> socket = co_await dial(loop, resolver, target);
      CHECK(socket.has_value() == each.works);
      if (!socket) {
        CHECK(socket.error().message.find(each.says) != std::string::npos);
        CHECK(socket.error().code == ErrorCode::kConnect);
      } else {
        dialled.take(std::move(*socket));
        co_await dialled.write_all(text);
        const std::string back = co_await dialled.read_all(text.size());
        CHECK(back == text);
      }
      (*listener)->stop();
      while (!served) {
        std::function<void()> nothing = [] {};
        co_await pool.run(loop, nothing);
      }
    });
  }
}

TEST_CASE("a refused connection is told with address and reason, and the next address is tried") {
  BlockingPool pool(1);
  run_on_loop([&](Loop& loop) -> Task<void> {
    Resolver resolver(loop, pool);
    // A port that was free a moment ago and has no listener now.
    uint16_t port = 0;
    {
      Result<std::unique_ptr<Listener>> listener =
          Listener::open(loop, "127.0.0.1", 0, [](int fd) { ::close(fd); });
      REQUIRE(listener);
      port = (*listener)->port();
      (*listener)->stop();
    }
    DialTarget target;
    target.host = "127.0.0.1";
    target.port = port;
    const Result<Socket> socket = co_await dial(loop, resolver, target);
    REQUIRE(!socket);
    CHECK(socket.error().message.find("cannot connect to 127.0.0.1:") == 0);
    CHECK(socket.error().message.find("refused") != std::string::npos);

    // localhost may have ::1 first: the listener on 127.0.0.1 is reached all the same.
    Result<std::unique_ptr<Listener>> listener =
        Listener::open(loop, "127.0.0.1", 0, [](int fd) { ::close(fd); });
    REQUIRE(listener);
    (*listener)->start();
    target.host = "localhost";
    target.port = (*listener)->port();
    const Result<Socket> second = co_await dial(loop, resolver, target);
    CHECK(second.has_value());
    (*listener)->stop();
  });
}

TEST_CASE("certificates that cannot be used are named") {
  const auto missing = TlsContext::server("no/such.pem", "no/such.key");
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::kConfig);
  CHECK(missing.error().message.find("no/such.pem") != std::string::npos);
  CHECK(missing.error().message.find("No such file") != std::string::npos);
}

TEST_CASE("a list of trusted certificates is read whole or refused") {
  const std::string one = contents_of("ca.pem");
  CHECK(TlsContext::check_trust(one));
  CHECK(TlsContext::check_trust(concat("a comment\n", one, one, "the end\n")));
  const std::string cut = one.substr(0, one.size() / 2);
  const std::string bad[] = {"", "no certificate", contents_of("server.key"), cut, one + cut};
  for (const std::string& each : bad) {
    CAPTURE(each);
    const Status refused = TlsContext::check_trust(each);
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::kConfig);
  }
  CHECK(!TlsContext::client("no certificate"));
}

}  // namespace
}  // namespace hw::net
