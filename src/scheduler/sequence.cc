#include "scheduler/sequence.h"

#include <algorithm>
#include <numeric>

namespace hw::scheduler {

std::string_view hold_name(Hold hold) {
  switch (hold) {
    case Hold::kStep:
      return "step";
    case Hold::kMaxNumSeqs:
      return "max_num_seqs";
    case Hold::kBudget:
      return "budget";
    case Hold::kBlocks:
      return "blocks";
    case Hold::kBatchWait:
      return "batch_wait";
    case Hold::kGroup:
      return "group";
    case Hold::kPreemption:
      return "preemption";
  }
  return "step";
}

int64_t Waits::steps_waited() const {
  return std::accumulate(steps.begin(), steps.end(), int64_t{0});
}

Nanos Waits::time_waited() const {
  return std::accumulate(ns.begin(), ns.end(), Nanos{0});
}

Hold Waits::longest() const {
  return static_cast<Hold>(std::max_element(ns.begin(), ns.end()) - ns.begin());
}

}  // namespace hw::scheduler
