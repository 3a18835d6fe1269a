// Schedule: faults on purpose, which of them when; for proving that the watchdog sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hw::faults {

// Which faults are on. All off by default.
struct Faults {
  double slow_step_factor = 1.0;      // every step takes so many times as long. 1 to 1000
  int64_t hung_step = 0;              // this step hangs for hung_step_ms; counted from 1, 0: none
  int64_t hung_step_ms = 0;           // 0 to 600000
  int64_t failed_step = 0;            // from this step on ...
  int64_t failed_steps = 1;           // ... so many fail, as by a refused allocation. 1 to 1000000
  int64_t crash_step = 0;             // from this step on all fail, as those of a dead worker
  int64_t late_first_token_ms = 0;    // steps that draw somebody's first token. 0 to 600000
  int64_t load_stall_ms = 0;          // the first step, as if weights were loaded. 0 to 600000
  int64_t memory_bytes_per_step = 0;  // that are kept for ever. 0 to 16777216
  double clock_ratio = 1.0;           // of the GPU's clock to what it should be. 0.01 to 1
  // Where sequences are released, not in the backend.
  double leak_share = 0.0;         // of those that end, which do not give their blocks back. 0 to 1
  double lost_blocks_share = 0.0;  // of the KV cache, at once: fragmentation. 0 to 1
  double lost_abort_share = 0.0;   // of aborts, that nobody hears. 0 to 1
};

// Reads {"slow_step_factor": 4, ...}: fields as in Faults, those that are missing off. kBadRequest
// with the field and what it may be, for unknown fields too.
Result<Faults> read_faults(std::string_view json);

// What a step suffers.
struct Harm {
  Nanos delay_ns = 0;  // before it is computed
  double factor = 1.0;
  bool fails = false;  // is not computed at all
  int64_t memory_bytes = 0;
};

// Pure: told that a step begins, says what is done to it. The same steps suffer the same.
class Schedule {
 public:
  explicit Schedule(const Faults& faults = {}) : faults_(faults) {}

  // Other faults from now on, their steps counted from here.
  void replace(const Faults& faults);
  // The next step; `first_token`: it draws the first token of some answer.
  Harm next(bool first_token);

 private:
  Faults faults_;
  int64_t step_ = 0;  // the last one
};

// The most memory that is hogged, whatever the schedule says.
inline constexpr int64_t kHoggedBytesMax = int64_t{1} << 30;

}  // namespace hw::faults
