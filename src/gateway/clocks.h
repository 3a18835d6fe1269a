// Clocks: the deadlines that one exchange watches, and which of them has passed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "net/timers.h"

namespace hw::gateway {

// What can be due. Each but kHeartbeat and kBackoff ends what it covers and names itself.
enum class ClockName : uint8_t {
  kPoolWait,
  kConnect,
  kFirstToken,
  kSilence,
  kBetweenTokens,
  kTotal,
  kHeartbeat,  // the client has heard nothing for keepalive_ms
  kBackoff,    // a back-off is over
  kDrain,      // drain_s: kept by the gateway, which tells every exchange when it is over
};
inline constexpr int kClockCount = 9;

class Clocks {
 public:
  Clocks() { due_.fill(net::Deadline::kNever); }

  // Due `limit_ms` after `from`; 0: never. The limit is kept for the message.
  void start(ClockName clock, Nanos from, int64_t limit_ms) {
    due_[index(clock)] = limit_ms == 0 ? net::Deadline::kNever : from + limit_ms * kMillisecond;
    limit_ms_[index(clock)] = limit_ms;
  }
  // Begins anew at `from` with the same limit; a clock that does not run stays so.
  void restart(ClockName clock, Nanos from) {
    if (due(clock) != net::Deadline::kNever) start(clock, from, limit_ms(clock));
  }
  void stop(ClockName clock) { due_[index(clock)] = net::Deadline::kNever; }
  // Stops all but kTotal and kHeartbeat: what belongs to one attempt.
  void stop_attempt() {
    for (ClockName each : {ClockName::kPoolWait, ClockName::kConnect, ClockName::kFirstToken,
                           ClockName::kSilence, ClockName::kBetweenTokens, ClockName::kBackoff}) {
      stop(each);
    }
  }

  // The earliest of all; Deadline::kNever when none runs.
  Nanos next() const {
    Nanos earliest = net::Deadline::kNever;
    for (Nanos due : due_) earliest = due < earliest ? due : earliest;
    return earliest;
  }
  Nanos due(ClockName clock) const { return due_[index(clock)]; }
  bool passed(ClockName clock, Nanos now) const { return due_[index(clock)] <= now; }
  // The clock that ends something and has passed; false when none has.
  bool expired(Nanos now, ClockName& which) const;
  int64_t limit_ms(ClockName clock) const { return limit_ms_[index(clock)]; }

 private:
  static size_t index(ClockName clock) { return static_cast<size_t>(clock); }
  std::array<Nanos, kClockCount> due_;
  std::array<int64_t, kClockCount> limit_ms_{};
};

// The error of a clock that has passed: code, limit and channel in its message.
Error clock_error(ClockName clock, int64_t limit_ms, std::string_view channel);
// That of kDrain.
Error drained();

}  // namespace hw::gateway
