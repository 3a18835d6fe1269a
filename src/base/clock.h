// Time as the rest of the program sees it: two clocks behind one interface, so that rules can be
// tested with a clock that stands still.
#pragma once

#include <cstdint>
#include <string>

namespace hw {

using Nanos = int64_t;  // a duration or a point on one clock, in nanoseconds
inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

// CLOCK_MONOTONIC in nanoseconds; for the data path, which stamps straight after each system call.
Nanos monotonic_ns();
// CLOCK_REALTIME in nanoseconds since 1970.
Nanos wall_ns();

// For rules that decide by time (limits, cool-down, admission) and are tested without waiting.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanos monotonic() const = 0;
  virtual Nanos wall() const = 0;
};

// The machine's own clocks.
class SystemClock final : public Clock {
 public:
  Nanos monotonic() const override { return monotonic_ns(); }
  Nanos wall() const override { return wall_ns(); }
};

// A clock that moves only when told to; for tests.
class FakeClock final : public Clock {
 public:
  Nanos monotonic() const override { return now_; }
  Nanos wall() const override { return wall_; }
  void advance(Nanos by) { now_ += by, wall_ += by; }

 private:
  Nanos now_ = kSecond;
  Nanos wall_ = 1'767'225'600 * kSecond;  // 2026-01-01T00:00:00Z
};

// RFC 3339 in UTC with microseconds, `2026-01-01T00:00:00.000001Z`; appended to `out`.
void append_rfc3339(std::string& out, Nanos wall);

}  // namespace hw
