#include "llama/prefix_lanes.h"

#include <algorithm>

#include "base/assert.h"

namespace hw::llama {

int PrefixLanes::keep(BlockId block, int place) {
  const auto index = static_cast<size_t>(place);
  if (index >= taken_.size()) taken_.resize(index + 1);
  std::vector<bool>& taken = taken_[index];
  taken.resize(static_cast<size_t>(lanes_));
  if (place == 0 || last_ >= lanes_ || taken[static_cast<size_t>(last_)]) {
    const auto free = std::find(taken.begin(), taken.end(), false);
    HW_ASSERT(free != taken.end());
    last_ = static_cast<int>(free - taken.begin());
  }
  taken[static_cast<size_t>(last_)] = true;
  const bool added = spots_.insert({block, Spot{last_, place}}).second;
  HW_ASSERT(added);
  return last_;
}

PrefixLanes::Spot PrefixLanes::drop(BlockId block) {
  const Spot spot = spot_of(block);
  taken_[static_cast<size_t>(spot.place)][static_cast<size_t>(spot.lane)] = false;
  spots_.erase(block);
  return spot;
}

PrefixLanes::Spot PrefixLanes::spot_of(BlockId block) const {
  const auto found = spots_.find(block);
  HW_ASSERT(found != spots_.end());
  return found->second;
}

}  // namespace hw::llama
