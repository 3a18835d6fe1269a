// Retention: prunes the oldest blocks of calls by age and by the size of the database.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "store/database.h"

namespace hw::store {

// What may be kept; older blocks go first.
struct RetentionLimits {
  int keep_days = 0;       // 0: any age
  uint64_t bytes_max = 0;  // of pages in use; 0: any size
};

// One step: prunes up to kPruneBlocksMax blocks in one transaction and gives the pages back to the
// file system. True where there may be more to do.
inline constexpr int kPruneBlocksMax = 32;
Result<bool> prune_step(Database& database, const RetentionLimits& limits, Nanos now_wall);

}  // namespace hw::store
