// StoreHealth: whether calls are being stored, in words for /readyz.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hw::store {

// Whether all is well.
enum class StoreState : uint8_t {
  kReady,
  kDegraded,  // calls are kept in the journal, or are being lost; traffic goes on
};

struct StoreHealth {
  StoreState state = StoreState::kReady;
  std::vector<std::string> reasons;  // one sentence each; empty when ready
  uint64_t pending_calls = 0;        // ended and not in the database yet
  uint64_t lost_calls = 0;           // since the start of the process
};

}  // namespace hw::store
