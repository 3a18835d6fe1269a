// Timers: the deadlines of one loop, written lazily. A deadline that moves later costs one store,
// and none costs a system call: the earliest bounds the loop's wait.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"

namespace hw::net {

class Timers;

// A point in time at which on_deadline() is called once, on the loop's thread. Owned by whoever
// waits; leaves its loop by itself when destroyed.
class Deadline {
 public:
  explicit Deadline(Timers& timers) : timers_(timers) {}
  virtual ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Calls on_deadline() at `at` (monotonic) or up to kResolution later; replaces an earlier
  // setting.
  void set(Nanos at);
  // Nothing will be called.
  void clear() { due_ = kNever; }
  // The time set last; kNever when none.
  Nanos due() const { return due_; }

  static constexpr Nanos kNever = INT64_MAX;
  static constexpr Nanos kResolution = kMillisecond;

 protected:
  // The last thing the timer does with this object: it may destroy itself here.
  virtual void on_deadline() = 0;

 private:
  friend class Timers;
  Timers& timers_;
  Nanos due_ = kNever;
  Nanos queued_at_ = kNever;  // the heap's key, at most due_
  size_t position_ = 0;       // in the heap, while queued_at_ is not kNever
};

class Timers {
 public:
  Timers() = default;
  ~Timers();

  // When fire() should be called next, or a little earlier; kNever where nothing is due.
  Nanos next() const { return heap_.empty() ? Deadline::kNever : heap_[0]->queued_at_; }
  // Calls on_deadline() of all that are due at `now`; for the loop.
  void fire(Nanos now);

 private:
  friend class Deadline;

  void push(Deadline& deadline, Nanos at);
  void remove(Deadline& deadline);
  void sift_up(size_t at);
  void sift_down(size_t at);
  void place(size_t at, Deadline* deadline);

  std::vector<Deadline*> heap_;
};

}  // namespace hw::net
