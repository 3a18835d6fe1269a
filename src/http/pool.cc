#include "http/pool.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace hw::http {

struct Pool::Idle final : net::SocketHandler {
  Pool& pool;
  std::unique_ptr<PooledConnection> connection;
  explicit Idle(Pool& p) : pool(p) {}
  void on_readable() override {
    if (!connection->socket.quiet()) return pool.forget(*this);
    connection->socket.want_read();  // of the answer before
  }
  void on_writable() override {}
};

Pool::Expiry::Expiry(Pool& p) : Deadline(p.loop_.timers()), pool(p) {}

Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    drop();
    pool_ = std::exchange(other.pool_, nullptr);
    connection_ = std::move(other.connection_);
  }
  return *this;
}

void Lease::attach(net::Socket socket) {
  HW_ASSERT(held() && !connected());
  connection_ = std::make_unique<PooledConnection>();
  connection_->socket = std::move(socket);
}

void Lease::give_back() {
  HW_ASSERT(connected());
  std::exchange(pool_, nullptr)->come_back(std::move(connection_));
}

void Lease::drop() {
  connection_.reset();
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->free_place();
}

Pool::Pool(net::Loop& loop, int connections_max, Gauge waiting)
    : loop_(loop), connections_max_(connections_max), waiting_gauge_(waiting), expiry_(*this) {
  HW_ASSERT(connections_max >= 1);
}

Pool::~Pool() {
  HW_ASSERT(in_use() == 0 && waiting_.empty());
}

Pool::Ticket::Ticket(Pool& pool, net::Event& event, net::Signals granted)
    : pool_(pool), event_(event), signal_(granted) {
  lease_ = pool_.try_lease();
  if (lease_.held()) return;
  waiting_ = true;
  pool_.waiting_.push_back(this);
  pool_.waiting_gauge_.add(1);
}

Pool::Ticket::~Ticket() {
  if (waiting_) pool_.wait_no_more(*this);
}

Lease Pool::try_lease() {
  if (auto idle = take_idle()) return Lease(*this, std::move(idle));
  if (places_ >= connections_max_) return {};
  ++places_;
  return Lease(*this, nullptr);
}

void Pool::come_back(std::unique_ptr<PooledConnection> connection) {
  ++connection->exchanges;
  if (too_many() || (retired_ && waiting_.empty())) {
    connection.reset();
    return free_place();
  }
  if (!waiting_.empty()) return grant(std::move(connection));
  std::unique_ptr<Idle> idle;
  if (spare_.empty()) {
    idle = std::make_unique<Idle>(*this);
  } else {
    idle = std::move(spare_.back());
    spare_.pop_back();
  }
  connection->idle_since = monotonic_ns();
  connection->socket.set_handler(idle.get());
  connection->socket.want_read();
  idle->connection = std::move(connection);
  idle_.push_back(std::move(idle));
  if (idle_.size() == 1) expiry_.set(idle_.front()->connection->idle_since + kIdleMax);
}

void Pool::free_place() {
  if (waiting_.empty() || too_many()) {
    --places_;
    return;
  }
  grant(nullptr);
}

// A place, and the connection in it where there is one, goes to who has waited longest.
void Pool::grant(std::unique_ptr<PooledConnection> connection) {
  Ticket& next = *waiting_.front();
  wait_no_more(next);
  next.lease_ = Lease(*this, std::move(connection));
  next.event_.raise_later(next.signal_);
}

void Pool::wait_no_more(Ticket& ticket) {
  std::erase(waiting_, &ticket);
  ticket.waiting_ = false;
  waiting_gauge_.add(-1);
}

std::unique_ptr<PooledConnection> Pool::take_idle() {
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Idle> idle = std::move(idle_.back());
  idle_.pop_back();
  idle->connection->socket.set_handler(nullptr);
  std::unique_ptr<PooledConnection> connection = std::move(idle->connection);
  spare_.push_back(std::move(idle));
  return connection;
}

void Pool::forget(Idle& idle) {
  const auto found = std::find_if(idle_.begin(), idle_.end(),
                                  [&](const auto& each) { return each.get() == &idle; });
  HW_ASSERT(found != idle_.end());
  idle_.erase(found);
  free_place();
}

void Pool::expire() {
  const Nanos now = monotonic_ns();
  size_t old = 0;
  while (old < idle_.size() && idle_[old]->connection->idle_since + kIdleMax <= now) ++old;
  close_oldest(old);
  if (!idle_.empty()) expiry_.set(idle_.front()->connection->idle_since + kIdleMax);
}

void Pool::close_oldest(size_t count) {
  idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(count));
  places_ -= static_cast<int>(count);
}

void Pool::close_idle() {
  close_oldest(idle_.size());
}

void Pool::set_connections_max(int connections_max) {
  HW_ASSERT(connections_max >= 1);
  connections_max_ = connections_max;
  retired_ = false;
  const int above = std::max(places_ - connections_max_, 0);
  close_oldest(std::min(static_cast<size_t>(above), idle_.size()));
  while (!waiting_.empty() && places_ < connections_max_) {
    ++places_;
    grant(nullptr);
  }
}

void Pool::retire() {
  retired_ = true;
  close_idle();
}

}  // namespace hw::http
