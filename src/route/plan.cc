#include "route/plan.h"

#include "base/assert.h"

namespace hw::route {

Plan::Plan(std::vector<Candidate> candidates, int attempts_max, Nanos wait_max)
    : candidates_(std::move(candidates)),
      states_(candidates_.size(), State::kFresh),
      attempts_max_(attempts_max),
      wait_left_(wait_max) {
  HW_ASSERT(!candidates_.empty() && attempts_max >= 1);
}

Next Plan::next(Nanos now) {
  if (attempts_ >= attempts_max_) return {};
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (states_[i] == State::kTried) continue;
    if (candidates_[i].channel->health->cooling(now) > 0) {
      skip(i, now);
      continue;
    }
    states_[i] = State::kTried;
    ++attempts_;
    return {&candidates_[i], 0};
  }
  const size_t best = soonest(now);
  if (best == candidates_.size()) return {};
  const Nanos wait = candidates_[best].channel->health->cooling(now);
  const bool may_wait = wait <= wait_left_;
  if (attempts_ > 0 && !may_wait) return {};
  states_[best] = State::kTried;
  ++attempts_;
  if (!may_wait) return {&candidates_[best], 0};
  wait_left_ -= wait;
  return {&candidates_[best], wait};
}

// Of those not tried, the one that is ready first; candidates_.size() when all were tried.
size_t Plan::soonest(Nanos now) const {
  size_t best = candidates_.size();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (states_[i] == State::kTried) continue;
    if (best == candidates_.size() || candidates_[i].channel->health->cooling(now) <
                                          candidates_[best].channel->health->cooling(now)) {
      best = i;
    }
  }
  return best;
}

void Plan::skip(size_t at, Nanos now) {
  if (states_[at] == State::kSkipped) return;
  states_[at] = State::kSkipped;
  skipped_.push_back(
      {candidates_[at].channel->options.name, candidates_[at].channel->health->reason(now)});
}

}  // namespace hw::route
