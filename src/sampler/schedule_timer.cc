#include "sampler/schedule_timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/assert.h"

namespace hw::sampler {

ScheduleTimer::ScheduleTimer(net::Loop& loop, std::function<void()> on_due)
    : loop_(loop),
      on_due_(std::move(on_due)),
      fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  HW_ASSERT(fd_ >= 0);
  loop_.poller().add(fd_, *this);
}

ScheduleTimer::~ScheduleTimer() {
  loop_.poller().remove(fd_, *this);
  ::close(fd_);
}

void ScheduleTimer::arm(Nanos at) {
  at = std::max<Nanos>(at, 1);  // 0 would disarm it
  itimerspec spec{};
  spec.it_value.tv_sec = at / kSecond;
  spec.it_value.tv_nsec = at % kSecond;
  ::timerfd_settime(fd_, TFD_TIMER_ABSTIME, &spec, nullptr);
}

void ScheduleTimer::on_ready(net::Readiness) {
  uint64_t expirations = 0;
  if (::read(fd_, &expirations, sizeof expirations) <= 0) return;
  on_due_();
}

}  // namespace hw::sampler
