// Trace: requests that were really sent, as published: when, and how long.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hw::workload {

// One request.
struct TraceRow {
  Nanos at = 0;  // from the first one
  int input_tokens = 1;
  int output_tokens = 1;
  // Names of the prompt's blocks of kTraceBlockTokens tokens, each after those before it; empty:
  // not told.
  std::vector<uint64_t> blocks;
};
inline constexpr int kTraceBlockTokens = 512;

// The largest file that is read, and the most rows: the largest published traces fit.
inline constexpr size_t kTraceBytesMax = size_t{1} << 30;
inline constexpr size_t kTraceRowsMax = 8'000'000;

// Reads, by what the file looks like:
//  * Mooncake (FAST'25): a line {"timestamp": ms, "input_length", "output_length", "hash_ids"}
//  each;
//  * Azure LLM inference 2023 and 2024: CSV with TIMESTAMP, ContextTokens, GeneratedTokens;
//  * BurstGPT: CSV with Timestamp (seconds), "Request tokens", "Response tokens", read by name
//  since
//    versions differ in their columns.
// Rows without an answer (failures) are left out; others are sorted by time. kConfig with the line
// where one cannot be read.
Result<std::vector<TraceRow>> read_trace(std::string_view text);

}  // namespace hw::workload
