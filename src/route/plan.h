// Plan: the order in which one exchange tries its candidates, within its one budget of attempts.
// Skips channels that cool down while others can serve, and keeps the reason for each.
#pragma once

#include <vector>

#include "base/clock.h"
#include "route/catalogue.h"
#include "timeline/call.h"

namespace hw::route {

// What to do next.
struct Next {
  const Candidate* candidate = nullptr;  // null: nothing is left to try
  Nanos wait = 0;                        // back-off before it; 0 unless wait_max allows waiting
};

class Plan {
 public:
  // `candidates` in the order to try, not empty; `attempts_max` >= 1; `wait_max` is how long the
  // exchange may wait for cooling channels, all waits together.
  Plan(std::vector<Candidate> candidates, int attempts_max, Nanos wait_max);

  // The next candidate at `now`. The first call always gives one: when every channel cools down,
  // the one that is ready soonest, since the upstream itself should say no. Later calls give only
  // channels that are neither tried nor cooling, or cool down within what is left of wait_max.
  Next next(Nanos now);

  // Channels passed over so far, each once.
  const std::vector<timeline::Skipped>& skipped() const { return skipped_; }
  int attempts() const { return attempts_; }

 private:
  enum class State : uint8_t { kFresh, kSkipped, kTried };
  size_t soonest(Nanos now) const;
  void skip(size_t at, Nanos now);

  std::vector<Candidate> candidates_;
  std::vector<State> states_;
  std::vector<timeline::Skipped> skipped_;
  int attempts_ = 0;
  int attempts_max_;
  Nanos wait_left_;
};

}  // namespace hw::route
