// Stopwatch: the time in which an exchange waits for nobody but us; `overhead_ns` of the record.
#pragma once

#include "base/clock.h"

namespace hw::timeline {

class Stopwatch {
 public:
  // Our work goes on at `now`; running already: nothing changes.
  void resume(Nanos now) {
    if (running_since_ < 0) running_since_ = now;
  }
  // From `now` on the exchange waits for somebody else.
  void pause(Nanos now) {
    if (running_since_ >= 0) total_ += now - running_since_;
    running_since_ = -1;
  }
  // `time` of what was counted was not ours.
  void deduct(Nanos time) { total_ -= time; }
  Nanos total() const { return total_; }

 private:
  Nanos total_ = 0;
  Nanos running_since_ = -1;
};

}  // namespace hw::timeline
