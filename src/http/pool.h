// Pool: the upstream connections of one instance on one loop: a cap over all of them, idle ones
// kept for the next request and dropped as soon as they become readable or old.
//
//   Pool::Ticket ticket(pool, event, kMine);   // asks for a connection; destroyed: gives up
//   while (!ticket.granted()) co_await event.wait(kMine | ...);
//   Lease lease = ticket.take();
//   if (!lease.connected()) { dial; lease.attach(std::move(socket)); }
//   ... one exchange ...
//   lease.give_back();                         // otherwise the connection closes with the lease
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "net/event.h"
#include "net/socket.h"
#include "net/timers.h"

namespace hw::http {

class Pool;

// A connection in somebody's hands or waiting for the next.
struct PooledConnection {
  net::Socket socket;
  uint64_t exchanges = 0;  // served so far
  Nanos idle_since = 0;
};

// The right to one connection of a pool, and the connection once there is one.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease() { drop(); }

  // There is a place in the pool.
  bool held() const { return pool_ != nullptr; }
  // There is a connection, new or kept.
  bool connected() const { return connection_ != nullptr; }
  // The connection had served before.
  bool reused() const { return connection_ != nullptr && connection_->exchanges > 0; }
  net::Socket& socket() { return connection_->socket; }
  // The connection that was made for this lease.
  void attach(net::Socket socket);
  // The exchange is complete and the connection in step: the next one may have it.
  void give_back();
  // Closes the connection; the place in the pool goes to whoever waits.
  void drop();
  // Closes the connection and keeps the place, to dial anew.
  void disconnect() { connection_.reset(); }

 private:
  friend class Pool;
  Lease(Pool& pool, std::unique_ptr<PooledConnection> connection)
      : pool_(&pool), connection_(std::move(connection)) {}
  Pool* pool_ = nullptr;
  std::unique_ptr<PooledConnection> connection_;
};

class Pool {
 public:
  // Below the keep-alive of common servers (nginx 75 s, uvicorn 5 s: the watch drops those).
  static constexpr Nanos kIdleMax = 55 * kSecond;

  // `connections_max` >= 1: in use, being dialled and idle together. `waiting` goes up and down
  // with the tickets that wait.
  Pool(net::Loop& loop, int connections_max, Gauge waiting = {});
  ~Pool();

  // A place in the queue for a connection.
  class Ticket {
   public:
    // Raises `granted` on `event` when granted() turns true; it may be so at once.
    Ticket(Pool& pool, net::Event& event, net::Signals granted);
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    // A place is ours: take() gives it, once.
    bool granted() const { return lease_.held(); }
    Lease take() { return std::move(lease_); }

   private:
    friend class Pool;
    Pool& pool_;
    net::Event& event_;
    const net::Signals signal_;
    Lease lease_;
    bool waiting_ = false;
  };

  // A connection or the place for one, where there is one now and nobody waits; else not held().
  Lease try_lease();

  // Places in use or being dialled, kept connections, tickets that wait.
  int in_use() const { return places_ - static_cast<int>(idle_.size()); }
  int idle() const { return static_cast<int>(idle_.size()); }
  int waiting() const { return static_cast<int>(waiting_.size()); }
  // Closes all idle connections, for shutdown.
  void close_idle();
  // A new cap: who waits gets what is free now; what is too much goes as soon as it is idle.
  void set_connections_max(int connections_max);
  // Nobody new comes: connections end with their lease, until set_connections_max() is called.
  void retire();

 private:
  friend class Lease;
  // Watches one idle connection: whatever it does, it is of no more use.
  struct Idle;
  struct Expiry final : net::Deadline {
    Pool& pool;
    explicit Expiry(Pool& p);
    void on_deadline() override { pool.expire(); }
  };

  void come_back(std::unique_ptr<PooledConnection> connection);
  void free_place();
  void close_oldest(size_t count);
  bool too_many() const { return places_ > connections_max_; }
  void grant(std::unique_ptr<PooledConnection> connection);
  void wait_no_more(Ticket& ticket);
  std::unique_ptr<PooledConnection> take_idle();
  void forget(Idle& idle);
  void expire();

  net::Loop& loop_;
  int connections_max_;
  int places_ = 0;                           // in use, being dialled and idle
  std::vector<std::unique_ptr<Idle>> idle_;  // used last at the back
  std::vector<std::unique_ptr<Idle>> spare_;
  std::vector<Ticket*> waiting_;  // first come, first served
  const Gauge waiting_gauge_;
  bool retired_ = false;
  Expiry expiry_;
};

}  // namespace hw::http
