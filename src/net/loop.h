// Loop: one event loop on one thread, with its timers and its measure of how late it runs.
//
// Everything that belongs to a loop is touched by its thread only, except post(), stop() and the
// two counters, which any thread may use.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "net/task.h"

namespace hw::net {

class Poller;
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
  // Starts a coroutine that nobody awaits; on the loop's thread, or before run(). An exception that
  // leaves it is our bug and stops the process.
  void spawn(Task<void> task);
  // Goes on with a coroutine from the loop itself, in this round still; on the loop's thread.
  void resume_later(Resumption coroutine);

  // 0 .. threads-1.
  int index() const { return index_; }
  Timers& timers() { return *timers_; }
  Poller& poller() { return *poller_; }

  // Client connections that this loop serves now or was dealt; any thread reads and counts.
  int connections() const { return connections_.load(std::memory_order_relaxed); }
  void add_connections(int change) { connections_.fetch_add(change, std::memory_order_relaxed); }

  // When this round began, monotonic: near enough for deadlines, not for stamps. 0 before run().
  Nanos now() const { return woken_; }
  // The wall clock at `at`, a monotonic time of about now; follows a change of the clock within a
  // tenth of a second.
  Nanos wall(Nanos at);
  // How long something that is handled at `now` may have waited for this loop: an upper bound, 0
  // when the loop had been asleep until just now.
  Nanos late(Nanos now) const { return now - ready_since_; }

 private:
  class Doorbell;
  void go_round();
  int timeout_ms(Nanos now) const;
  void run_posted();
  void resume_all();

  std::unique_ptr<Poller> poller_;
  std::unique_ptr<Timers> timers_;
  std::unique_ptr<Doorbell> doorbell_;
  boost::asio::io_context context_;  // starts the coroutines; does no I/O
  int index_;
  std::atomic<int> connections_{0};
  std::atomic<bool> stopped_{false};
  std::mutex posted_lock_;
  std::vector<std::function<void()>> posted_;  // guarded by posted_lock_
  std::vector<Resumption> resumptions_;
  bool spawned_ = false;       // the context has work
  Nanos wall_offset_ = 0;      // what the wall clock is ahead of the monotonic one
  Nanos wall_looked_at_ = -1;  // when that was found out; -1: never
  Nanos woken_ = 0;            // when the last round began
  Nanos ready_since_ = 0;      // what this round handles became ready no earlier
};

}  // namespace hw::net
