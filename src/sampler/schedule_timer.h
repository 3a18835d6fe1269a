// ScheduleTimer: wakes a loop at a point in time to some microseconds; the loop's own deadlines are
// good to a millisecond, which is too coarse for a schedule.
#pragma once

#include <functional>

#include "base/clock.h"
#include "net/loop.h"
#include "net/poller.h"

namespace hw::sampler {

// A timer of the kernel in the loop's epoll set. On the loop's thread.
class ScheduleTimer final : public net::Pollable {
 public:
  // Calls `on_due` once for each arm(); it may arm again.
  ScheduleTimer(net::Loop& loop, std::function<void()> on_due);
  ~ScheduleTimer() override;
  ScheduleTimer(const ScheduleTimer&) = delete;
  ScheduleTimer& operator=(const ScheduleTimer&) = delete;

  // Wakes at `at`, monotonic; at once where it is past. Replaces an earlier setting.
  void arm(Nanos at);

 private:
  void on_ready(net::Readiness news) override;

  net::Loop& loop_;
  std::function<void()> on_due_;
  const int fd_;
};

}  // namespace hw::sampler
