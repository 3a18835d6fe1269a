#include "gateway/clocks.h"

#include "base/assert.h"
#include "base/text.h"

namespace hw::gateway {

bool Clocks::expired(Nanos now, ClockName& which) const {
  // In the order in which a cause explains more: the whole before its parts only when it is due.
  for (ClockName each : {ClockName::kPoolWait, ClockName::kConnect, ClockName::kFirstToken,
                         ClockName::kBetweenTokens, ClockName::kSilence, ClockName::kTotal}) {
    if (!passed(each, now)) continue;
    which = each;
    return true;
  }
  return false;
}

Error clock_error(ClockName clock, int64_t limit_ms, std::string_view channel) {
  const auto text = [&](std::string_view what, std::string_view name) {
    return concat("Channel ", channel, ": ", what, " within ", limit_ms, " ms (", name, ")");
  };
  switch (clock) {
    case ClockName::kPoolWait:
      return Error(ErrorCode::kPoolFull, text("no connection became free", "pool_wait_ms"));
    case ClockName::kConnect:
      return Error(ErrorCode::kTimeoutConnect, text("no connection was made", "connect_ms"));
    case ClockName::kFirstToken:
      return Error(ErrorCode::kTimeoutFirstToken, text("no token came", "first_token_ms"));
    case ClockName::kSilence:
      return Error(ErrorCode::kTimeoutSilence, text("no byte came", "silence_ms"));
    case ClockName::kBetweenTokens:
      return Error(ErrorCode::kTimeoutBetweenTokens,
                   text("no further token came", "between_tokens_ms"));
    case ClockName::kTotal:
      return Error(ErrorCode::kTimeoutTotal, text("the answer was not complete", "total_ms"));
    case ClockName::kDrain:
      return drained();
    case ClockName::kHeartbeat:
    case ClockName::kBackoff:
      break;
  }
  HW_ASSERT(false);
  return Error();
}

Error drained() {
  return Error(ErrorCode::kDraining,
               "The gateway shut down before the answer was complete (drain_s); send the request "
               "again");
}

}  // namespace hw::gateway
