// Measurement: a row of what somebody measured on a real GPU, and what the twin says to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu_model/scalars.h"

namespace hw::planner {

// Longest file and most rows that are read.
inline constexpr size_t kCsvBytesMax = 16 << 20;
inline constexpr size_t kRowsMax = 100'000;

// Mean TTFT and TPOT of a closed loop.
struct Measurement {
  std::string model;
  std::string gpu;
  std::string precision;  // of the weights; empty: as published
  int tensor_parallel = 1;
  int input_tokens = 0;
  int output_tokens = 0;
  int concurrency = 0;
  int64_t kv_blocks = 0;  // as the engine's log says; 0: not told, to be estimated
  double ttft_ms = 0;
  double tpot_ms = 0;
};

// Rows of a CSV whose first line names the columns, in any order: model, gpu, tp, input_tokens,
// output_tokens, concurrency, ttft_mean_ms, tpot_mean_ms, and optionally precision and kv_blocks;
// others are ignored. No quotes. kConfig with the line where something is missing or no number.
Result<std::vector<Measurement>> read_measurements(std::string_view csv);

// What kind of row it is. The last two are reported apart and not fitted to.
enum class RowKind : uint8_t {
  kDense,
  kExperts,
  kQueued,  // more requests than the KV pool holds, or a wait longer than the answer takes: decided
            // by a block count or a limit of sequences that the row does not tell
  kTooFast,  // TPOT below what moving the weights and BF16 keys and values takes at full bandwidth:
             // measured with settings that the row does not tell
};

// What the twin says to one.
struct Prediction {
  double ttft_ms = 0;
  double tpot_ms = 0;
  int64_t requests = 0;
  int64_t steps = 0;
  RowKind kind = RowKind::kDense;
};

// How a row's load is made up again.
struct Replay {
  int requests_per_client = 8;
  uint64_t seed = 1;
};

// Plays a row's load against the twin. kConfig where its model or GPU is not known, or does not
// fit.
Result<Prediction> predict(const Measurement& row, const gpu_model::Scalars& scalars,
                           const Replay& replay = {});

}  // namespace hw::planner
