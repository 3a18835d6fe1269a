#include "http/pool.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

namespace hw::http {
namespace {

// A loop with a pool on it, and the far ends of the connections that tests put into it.
template <class Body>
void with_pool(int connections_max, Body body, Gauge waiting = {}) {
  net::Loop loop(0);
  auto whole = [](net::Loop& on, int max, Gauge gauge, Body& run) -> net::Task<void> {
    {
      Pool pool(on, max, gauge);
      co_await run(on, pool);
      pool.close_idle();
    }
    on.stop();
  };
  loop.spawn(whole(loop, connections_max, waiting, body));
  loop.run();
}

// A connected pair: one end for the pool, the other's descriptor is given back.
net::Socket connection(net::Loop& loop, int& far_end) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  far_end = ends[1];
  return net::Socket(loop, ends[0]);
}

// Lets callbacks of the loop run.
net::Task<void> turn(net::Loop& loop) {
  net::Event event(loop);
  for (int i = 0; i < 3; ++i) {
    event.raise_later(0);
    loop.post([&event] { event.raise(1); });
    co_await event.wait(1);
  }
}

TEST_CASE("a connection that was given back serves the next lease") {
  with_pool(2, [](net::Loop& loop, Pool& pool) -> net::Task<void> {
    net::Event event(loop);
    int far_end = -1;
    {
      Pool::Ticket ticket(pool, event, 1);
      REQUIRE(ticket.granted());
      Lease lease = ticket.take();
      CHECK(!lease.connected());
      lease.attach(connection(loop, far_end));
      CHECK(!lease.reused());
      CHECK(pool.in_use() == 1);
      lease.give_back();
    }
    CHECK(pool.idle() == 1);
    CHECK(pool.in_use() == 0);
    Pool::Ticket ticket(pool, event, 1);
    Lease lease = ticket.take();
    CHECK(lease.connected());
    CHECK(lease.reused());
    lease.drop();
    CHECK(pool.in_use() == 0);
    CHECK(pool.idle() == 0);
    ::close(far_end);
    co_return;
  });
}

TEST_CASE("an idle connection that becomes readable is dropped") {
  with_pool(1, [](net::Loop& loop, Pool& pool) -> net::Task<void> {
    net::Event event(loop);
    int far_end = -1;
    Pool::Ticket ticket(pool, event, 1);
    Lease lease = ticket.take();
    lease.attach(connection(loop, far_end));
    lease.give_back();
    CHECK(pool.idle() == 1);
    ::close(far_end);
    for (int i = 0; i < 100 && pool.idle() == 1; ++i) co_await turn(loop);
    CHECK(pool.idle() == 0);
    CHECK(pool.in_use() == 0);
  });
}

TEST_CASE("a capped pool serves those who wait in their order, by a connection or by its place") {
  with_pool(1, [](net::Loop& loop, Pool& pool) -> net::Task<void> {
    net::Event event(loop);
    int far_end = -1;
    Pool::Ticket first(pool, event, 1);
    Lease lease = first.take();
    lease.attach(connection(loop, far_end));
    Pool::Ticket second(pool, event, 2);
    std::optional<Pool::Ticket> given_up;
    given_up.emplace(pool, event, 4);
    Pool::Ticket third(pool, event, 8);
    CHECK(!second.granted());
    CHECK(pool.waiting() == 3);
    given_up.reset();
    lease.give_back();
    net::Signals got = co_await event.wait(2 | 4 | 8);
    CHECK(got == 2);
    Lease next = second.take();
    CHECK(next.connected());
    next.drop();
    got = co_await event.wait(4 | 8);
    CHECK(got == 8);
    Lease last = third.take();
    CHECK(!last.connected());
    last.drop();
    CHECK(pool.in_use() == 0);
    ::close(far_end);
  });
}

TEST_CASE("who waits for a place is counted, until it has one or gives up") {
  Registry registry;
  const Gauge waiting = registry.gauge("waiting", "For a test.");
  with_pool(
      1,
      [&](net::Loop& loop, Pool& pool) -> net::Task<void> {
        net::Event event(loop);
        Pool::Ticket first(pool, event, 1);
        Lease lease = first.take();
        CHECK(waiting.value() == 0);
        Pool::Ticket second(pool, event, 2);
        {
          const Pool::Ticket third(pool, event, 4);
          CHECK(waiting.value() == 2);
        }
        CHECK(waiting.value() == 1);
        lease.drop();
        co_await event.wait(2);
        CHECK(waiting.value() == 0);
        second.take().drop();
      },
      waiting);
}

TEST_CASE("a raised cap serves who waits at once, a lowered one closes what is idle first") {
  with_pool(1, [](net::Loop& loop, Pool& pool) -> net::Task<void> {
    net::Event event(loop);
    int far_ends[3] = {-1, -1, -1};
    Pool::Ticket first(pool, event, 1), second(pool, event, 2), third(pool, event, 4);
    Lease one = first.take();
    one.attach(connection(loop, far_ends[0]));
    pool.set_connections_max(3);
    CHECK(pool.waiting() == 0);
    REQUIRE(second.granted());
    REQUIRE(third.granted());
    Lease two = second.take(), three = third.take();
    two.attach(connection(loop, far_ends[1]));
    three.attach(connection(loop, far_ends[2]));
    one.give_back();
    pool.set_connections_max(1);
    CHECK(pool.idle() == 0);  // it was above the cap, and free
    CHECK(pool.in_use() == 2);
    Pool::Ticket fourth(pool, event, 8);
    two.give_back();
    CHECK(!fourth.granted());  // still one above
    CHECK(pool.in_use() == 1);
    three.give_back();
    REQUIRE(fourth.granted());
    fourth.take().drop();
    CHECK(pool.in_use() == 0);
    for (const int far_end : far_ends) ::close(far_end);
    co_return;
  });
}

TEST_CASE("a retired pool keeps nothing, and does again when it is wanted again") {
  with_pool(2, [](net::Loop& loop, Pool& pool) -> net::Task<void> {
    int far_ends[2] = {-1, -1};
    Lease one = pool.try_lease(), two = pool.try_lease();
    one.attach(connection(loop, far_ends[0]));
    two.attach(connection(loop, far_ends[1]));
    one.give_back();
    pool.retire();
    CHECK(pool.idle() == 0);
    two.give_back();
    CHECK(pool.idle() == 0);
    CHECK(pool.in_use() == 0);
    pool.set_connections_max(2);
    Lease again = pool.try_lease();
    int far_end = -1;
    again.attach(connection(loop, far_end));
    again.give_back();
    CHECK(pool.idle() == 1);
    for (const int each : {far_ends[0], far_ends[1], far_end}) ::close(each);
    co_return;
  });
}

}  // namespace
}  // namespace hw::http
