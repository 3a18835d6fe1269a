// Flow: how the tokens of a stream arrived: one by one, or in clumps as behind a buffer. Pure.
#pragma once

#include <cstdint>

#include "probe/record.h"

namespace hw::probe {

// What the arrival times say.
enum class FlowKind : uint8_t {
  kTooLittle,  // too few tokens, or over too quickly to tell
  kSteady,
  kOneClump,  // after a long wait all tokens at once
  kClumps,    // several tokens at once, long pauses between
};

// How a stream flowed.
struct Flow {
  FlowKind kind = FlowKind::kTooLittle;
  uint64_t tokens = 0;  // token events
  uint64_t clumps = 0;  // groups of them that arrived together
  Nanos wait_ns = 0;    // from the request's last byte to the first token
  Nanos span_ns = 0;    // from the first token to the last
  Nanos pause_ns = 0;   // median between neighbouring clumps; 0: there is one only
};

// Looks at the reads of a streamed exchange. Events of one read, and of reads less than 0.5 ms
// apart, count as arrived together: a buffer is written out at once, and no engine is that fast.
Flow flow_of(const Exchange& exchange);

}  // namespace hw::probe
