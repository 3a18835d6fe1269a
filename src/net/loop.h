// Loop: one event loop on one thread, with its timers and its measure of how late it runs.
//
// Everything that belongs to a loop is touched by its thread only, except post() and the two
// counters, which any thread may use.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "net/task.h"

namespace hw::net {

class Timers;

class Loop {
 public:
  explicit Loop(int index);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs until stop(); the calling thread becomes the loop's thread.
  void run();
  // Ends run() soon; from any thread.
  void stop();
  // Calls `work` on the loop's thread, later; from any thread.
  void post(std::function<void()> work);
  // Starts a coroutine that nobody awaits. An exception that leaves it is our bug and stops the
  // process.
  void spawn(Task<void> task);

  // 0 .. threads-1.
  int index() const { return index_; }
  boost::asio::io_context& context() { return context_; }
  Executor executor() { return context_.get_executor(); }
  Timers& timers() { return *timers_; }

  // Client connections that this loop serves now; read by others to balance, written here.
  int connections() const { return connections_.load(std::memory_order_relaxed); }
  void add_connections(int change) {
    connections_.store(connections() + change, std::memory_order_relaxed);
  }

  // Called by net at the beginning and the end of each callback that the loop runs. enter() returns
  // the time now. Callbacks that follow one another without a pause form a burst; what became
  // ready during it had to wait at most since the burst began.
  Nanos enter();
  void leave() { last_end_ = monotonic_ns(); }
  // How long something that is handled at `now` may have waited for this loop: time since the burst
  // began. An upper bound, 0 when the loop was idle.
  Nanos late(Nanos now) const { return now - burst_start_; }

 private:
  boost::asio::io_context context_;
  std::unique_ptr<Timers> timers_;
  int index_;
  std::atomic<int> connections_{0};
  Nanos last_end_ = 0;
  Nanos burst_start_ = 0;
};

}  // namespace hw::net
