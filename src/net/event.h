// Event: what one coroutine waits on. Others raise signals; the waiter gets those it asked for.
//
// One loop, one waiter at a time. This is the only way in which sockets, timers, pools and watchers
// talk to the coroutine that owns them: they never close or cancel anything by themselves.
#pragma once

#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "net/task.h"

namespace hw::net {

class Loop;

// A set of signals; the meaning of each bit belongs to whoever owns the event.
using Signals = uint32_t;

class Event {
 public:
  explicit Event(Loop& loop) : loop_(loop) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { HW_ASSERT(!waiter_); }

  // Raises `signals` and, if the waiter asked for one of them, resumes it before returning. For
  // callbacks of the loop, as their last act: the waiter may destroy the caller.
  void raise(Signals signals) {
    raised_ |= signals;
    if (!waiter_ || (raised_ & wanted_) == 0) return;
    Resumption waiter = std::move(*waiter_);
    waiter_.reset();
    std::move(waiter)();
  }

  // Raises `signals` from inside another coroutine of the loop: the waiter runs later.
  void raise_later(Signals signals);

  // What wait() is made of, for those who are a coroutine already and need no other: suspends until
  // one of `wanted` is raised. Await it once, only where none is pending, then take() them.
  auto suspend(Signals wanted) {
    HW_ASSERT(!waiter_);
    wanted_ = wanted;
    auto keep = [this](Resumption waiter) { waiter_.emplace(std::move(waiter)); };
    return boost::asio::async_initiate<const boost::asio::deferred_t, void()>(
        std::move(keep), boost::asio::deferred);
  }
  // Suspends until one of `wanted` is raised (or was, and not taken yet); takes and returns those.
  Task<Signals> wait(Signals wanted) {
    if (pending(wanted) == 0) {
      auto suspension = suspend(wanted);
      co_await std::move(suspension);
    }
    co_return take(wanted);
  }

  // Takes those of `signals` that are raised.
  Signals take(Signals signals) {
    const Signals taken = raised_ & signals;
    raised_ &= ~taken;
    return taken;
  }

  // Whether somebody is suspended here until one of `signals`, and others perhaps, is raised.
  bool is_awaited(Signals signals) const { return waiter_ && (wanted_ & signals) != 0; }
  // Those of `signals` that are raised now, without taking them.
  Signals pending(Signals signals) const { return raised_ & signals; }
  // Forgets `signals`.
  void drop(Signals signals) { raised_ &= ~signals; }

 private:
  Loop& loop_;
  std::optional<Resumption> waiter_;
  Signals wanted_ = 0;
  Signals raised_ = 0;
};

}  // namespace hw::net
