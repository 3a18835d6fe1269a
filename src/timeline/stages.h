// stages(): the conserved timeline. Turns the stamps of a call into intervals that touch, do not
// overlap, begin at 0 and end at total_ns, so that their sum is the total to the nanosecond.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "timeline/call.h"

namespace hw::timeline {

// What an interval was spent on.
enum class StageKind : uint8_t {
  kUpload,     // arrived -> body_read
  kAuthorize,  // key, limits, facts
  kQueue,      // admission queue
  kRoute,      // choosing channels
  kPool,       // waiting for a connection of a capped pool
  kDns,
  kConnect,
  kTls,
  kSend,         // writing the request
  kWait,         // sent -> first body byte
  kFirstToken,   // first body byte -> first token
  kDecode,       // first token -> last token
  kTail,         // last token -> response complete
  kDeliver,      // response complete -> last byte with the client
  kFailed,       // all of an attempt that did not win
  kBackoff,      // waiting between attempts
  kUnexplained,  // time that no stamp explains; listed, never hidden
};
inline constexpr int kStageKindCount = 17;
// "upload", "authorize", ... as in the call record.
std::string_view stage_name(StageKind kind);
// False where `name` is no stage.
bool parse_stage(std::string_view name, StageKind& out);

// One interval of a call.
struct Stage {
  StageKind kind;
  int attempt = -1;  // index into call.attempts; -1: of the exchange
  Nanos start = 0, end = 0;
  Nanos length() const { return end - start; }
  friend bool operator==(const Stage&, const Stage&) = default;
};

// What stages() found out beside the intervals.
struct StageList {
  std::vector<Stage> stages;
  uint32_t clamped = 0;  // stamps that lay before their predecessor and were moved
  Nanos unexplained = 0;
  Nanos total = 0;  // the end of the last stage; total_ns() where the exchange is finished
};

// Pure. Any set of stamps gives a conserved list; README.md has the table of which stamps delimit
// which stage. Disordered stamps are clamped to their predecessor, stamps behind the end to the
// end, and counted. An exchange without kFinished is taken to end at its last stamp. Intervals of
// length 0 are left out, neighbours of one kind and attempt are one.
StageList stages(const Call& call);
// The same into `list`, whose memory is used again.
void lay_stages(const Call& call, StageList& list);

// The engine's own durations laid into the interval they explain, sent -> first token (not
// streamed: sent -> closed).
struct EngineBreakdown {
  bool present = false;
  bool inconsistent = false;  // they exceed the interval
  Nanos interval = 0;
  Nanos queue = 0, prefill = 0, kv_transfer = 0, decode = 0;  // decode only when not streamed
  Nanos network_and_api = 0;                                  // the rest; 0 when inconsistent
};
EngineBreakdown engine_breakdown(const Call& call);

}  // namespace hw::timeline
