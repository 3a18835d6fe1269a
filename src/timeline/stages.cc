#include "timeline/stages.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/assert.h"
#include "base/error.h"

namespace hw::timeline {
namespace {

using enum AttemptStamp;

constexpr unsigned bit(AttemptStamp stamp) {
  return 1u << static_cast<unsigned>(stamp);
}

// A stage of the attempt that won: it ends at `end`, and began where the stamp before it is one of
// `starts`. Behind any other stamp the time has no explanation.
struct Step {
  AttemptStamp end;
  StageKind kind;
  unsigned starts;
};
constexpr std::array kSteps = {
    Step{kLeased, StageKind::kPool, bit(kBegun)},
    Step{kResolved, StageKind::kDns, bit(kLeased)},
    Step{kConnected, StageKind::kConnect, bit(kLeased) | bit(kResolved)},
    Step{kSecured, StageKind::kTls, bit(kConnected)},
    Step{kSent, StageKind::kSend, bit(kLeased) | bit(kConnected) | bit(kSecured)},
    Step{kFirstByte, StageKind::kWait, bit(kSent)},
    Step{kFirstToken, StageKind::kFirstToken, bit(kFirstByte)},
    Step{kLastToken, StageKind::kDecode, bit(kFirstToken)},
};

Nanos latest_of(const Call& call) {
  Nanos latest = 0;
  for (int i = 0; i < kExchangeStampCount; ++i) {
    latest = std::max(latest, call.stamps.get(static_cast<ExchangeStamp>(i)));
  }
  for (const Attempt& attempt : call.attempts) {
    for (int i = 0; i < kAttemptStampCount; ++i) {
      latest = std::max(latest, attempt.stamps.get(static_cast<AttemptStamp>(i)));
    }
  }
  return latest;
}

bool failed_to_connect(const Attempt& attempt) {
  return attempt.error.code == error_info(ErrorCode::kConnect).name ||
         attempt.error.code == error_info(ErrorCode::kTimeoutConnect).name;
}

// What an attempt was doing since `last`, its latest stamp before it ended.
StageKind phase_since(AttemptStamp last, const Call& call, const Attempt& attempt) {
  const bool complete = attempt.outcome == Outcome::kOk || attempt.stamps.has(kTerminal);
  switch (last) {
    case kBegun:
      return StageKind::kPool;
    case kLeased:
      return attempt.connection.reused ? StageKind::kSend : StageKind::kConnect;
    case kResolved:
      return StageKind::kConnect;
    case kConnected:
      return failed_to_connect(attempt) ? StageKind::kTls : StageKind::kSend;
    case kSecured:
      return StageKind::kSend;
    case kSent:
    case kHead:
      return StageKind::kWait;
    case kFirstByte:
    case kFirstFrame:
      return call.stream && attempt.status / 100 == 2 && !complete ? StageKind::kFirstToken
                                                                   : StageKind::kTail;
    case kFirstToken:
    case kFirstVisible:
    case kLastToken:
      return complete ? StageKind::kTail : StageKind::kDecode;
    case kTerminal:
    case kClosed:
    case kResumed:
      return StageKind::kTail;
  }
  return StageKind::kUnexplained;
}

// What an exchange without an attempt was doing since its latest stamp.
StageKind phase_without_attempt(const Call& call) {
  const ExchangeStamps& stamps = call.stamps;
  const bool broken_off = call.outcome == Outcome::kClientGone || call.outcome == Outcome::kTimeout;
  if (stamps.has(ExchangeStamp::kAdmitted)) {
    return broken_off ? StageKind::kRoute : StageKind::kDeliver;
  }
  if (stamps.has(ExchangeStamp::kAuthorized)) {
    return broken_off ? StageKind::kQueue : StageKind::kDeliver;
  }
  if (call.outcome == Outcome::kOk) return StageKind::kUnexplained;
  if (stamps.has(ExchangeStamp::kBodyRead)) return StageKind::kAuthorize;
  // Refused on the head alone, unless the body was too slow, too large or in an unknown coding.
  const bool over_the_body = call.status == 408 || call.status == 413 || call.status == 415;
  const bool on_the_head = call.outcome == Outcome::kRejected && !over_the_body;
  return on_the_head && stamps.has(ExchangeStamp::kHeadRead) ? StageKind::kAuthorize
                                                             : StageKind::kUpload;
}

// Lays stages from 0 to the end of the exchange, one behind the other.
class Layout {
 public:
  Layout(const Call& call, StageList& list)
      : call_(call),
        list_(list),
        total_(call.stamps.has(ExchangeStamp::kFinished) ? call.stamps.get(ExchangeStamp::kFinished)
                                                         : latest_of(call)) {}

  void run() {
    list_.stages.clear();
    list_.stages.reserve(16);
    list_.clamped = 0;
    list_.unexplained = 0;
    lay_exchange();
    for (size_t i = 0; i < call_.attempts.size(); ++i) lay_attempt(i);
    extend(call_.attempts.empty() ? phase_without_attempt(call_) : open_, total_);
    HW_ASSERT(cursor_ == total_);
    list_.total = total_;
  }

 private:
  // The stamp as it counts: not before any stamp that comes before it, not after the end.
  Nanos settle(Nanos at) {
    const Nanos settled = std::max(std::min(at, total_), latest_);
    if (settled != at) ++list_.clamped;
    latest_ = settled;
    return settled;
  }

  // The time up to `to` was spent on `kind`.
  void extend(StageKind kind, Nanos to) {
    HW_ASSERT(to >= cursor_);
    const Nanos from = cursor_;
    cursor_ = to;
    if (to == from) return;
    if (kind == StageKind::kUnexplained) list_.unexplained += to - from;
    if (!list_.stages.empty()) {
      Stage& last = list_.stages.back();
      if (last.kind == kind && last.attempt == attempt_) {
        last.end = to;
        return;
      }
    }
    list_.stages.push_back({kind, attempt_, from, to});
  }

  void lay_exchange() {
    using enum ExchangeStamp;
    const ExchangeStamps& stamps = call_.stamps;
    if (stamps.get(kArrived) > 0) ++list_.clamped;  // by definition the first byte is at 0
    if (stamps.has(kHeadRead)) extend(StageKind::kUpload, settle(stamps.get(kHeadRead)));
    if (stamps.has(kBodyRead)) extend(StageKind::kUpload, settle(stamps.get(kBodyRead)));
    if (stamps.has(kAuthorized)) {
      const bool asked = stamps.has(kHeadRead) || stamps.has(kBodyRead);
      extend(asked ? StageKind::kAuthorize : StageKind::kUnexplained,
             settle(stamps.get(kAuthorized)));
    }
    if (stamps.has(kAdmitted)) {
      extend(stamps.has(kAuthorized) ? StageKind::kQueue : StageKind::kUnexplained,
             settle(stamps.get(kAdmitted)));
    }
    const bool ready = stamps.has(kAuthorized) || stamps.has(kAdmitted);
    open_ = ready ? StageKind::kRoute : StageKind::kUnexplained;
  }

  // `open_` is what the time since cursor_ is spent on, if the next attempt or the end comes next.
  void lay_attempt(size_t index) {
    const Attempt& attempt = call_.attempts[index];
    const AttemptStamps stamps = settled(attempt.stamps);
    if (stamps.has(kBegun)) {
      extend(open_, stamps.get(kBegun));
      open_ = StageKind::kUnexplained;
    }
    attempt_ = static_cast<int>(index);
    const bool won = index + 1 == call_.attempts.size() && !stamps.has(kResumed);
    if (won) {
      lay_winner(attempt, stamps);
    } else {
      lay_failed(stamps);
    }
  }

  // The attempt's stamps, each settled in the order of the enum. An answer that comes before the
  // request is out ends the sending; where a complete answer has no body, its head stands for it.
  AttemptStamps settled(const AttemptStamps& raw) {
    AttemptStamps ready;
    for (int i = 0; i < kAttemptStampCount; ++i) {
      const auto stamp = static_cast<AttemptStamp>(i);
      Nanos at = raw.get(stamp);
      if (stamp == kSent && raw.has(kHead) && (at < 0 || at > raw.get(kHead))) at = raw.get(kHead);
      if (at >= 0) ready.set_once(stamp, settle(at));
    }
    return ready;
  }

  void lay_failed(const AttemptStamps& stamps) {
    const StageKind all = stamps.has(kBegun) ? StageKind::kFailed : StageKind::kUnexplained;
    open_ = all;
    if (stamps.has(kClosed)) {
      extend(all, stamps.get(kClosed));
      open_ = StageKind::kRoute;
    }
    if (stamps.has(kResumed)) {
      extend(stamps.has(kClosed) ? StageKind::kBackoff : all, stamps.get(kResumed));
      open_ = StageKind::kRoute;
    }
    // Choosing the next channel belongs to the exchange; what was never closed goes on.
    if (open_ == StageKind::kRoute) attempt_ = -1;
  }

  void lay_winner(const Attempt& attempt, AttemptStamps stamps) {
    const bool complete = attempt.outcome == Outcome::kOk;
    if (complete && !stamps.has(kFirstByte) && stamps.has(kHead)) {
      stamps.set_once(kFirstByte, stamps.get(kHead));
    }
    bool begun = stamps.has(kBegun);
    AttemptStamp last = kBegun;
    for (const Step& step : kSteps) {
      if (!stamps.has(step.end)) continue;
      const bool explained = begun && (step.starts & bit(last)) != 0;
      extend(explained ? step.kind : StageKind::kUnexplained, stamps.get(step.end));
      begun = true;
      last = step.end;
    }
    // A complete answer cannot have ended in the middle of being asked for.
    const bool answered = last >= kFirstByte;
    const bool explained = begun && (answered || !complete);
    const StageKind phase = explained ? phase_since(last, call_, attempt) : StageKind::kUnexplained;
    if (stamps.has(kClosed)) {
      extend(phase, stamps.get(kClosed));
      open_ = StageKind::kDeliver;
      attempt_ = -1;
    } else {
      open_ = complete ? StageKind::kUnexplained : phase;
    }
  }

  const Call& call_;
  StageList& list_;
  const Nanos total_;
  Nanos cursor_ = 0;  // end of what is laid
  Nanos latest_ = 0;  // the latest stamp that was settled
  int attempt_ = -1;
  StageKind open_ = StageKind::kUnexplained;
};

}  // namespace

std::string_view stage_name(StageKind kind) {
  constexpr std::array<std::string_view, kStageKindCount> kNames = {
      "upload",  "authorize", "queue",  "route",   "pool",        "dns",
      "connect", "tls",       "send",   "wait",    "first_token", "decode",
      "tail",    "deliver",   "failed", "backoff", "unexplained"};
  return kNames[static_cast<size_t>(kind)];
}

bool parse_stage(std::string_view name, StageKind& out) {
  for (int i = 0; i < kStageKindCount; ++i) {
    if (stage_name(static_cast<StageKind>(i)) != name) continue;
    out = static_cast<StageKind>(i);
    return true;
  }
  return false;
}

StageList stages(const Call& call) {
  StageList list;
  lay_stages(call, list);
  return list;
}

void lay_stages(const Call& call, StageList& list) {
  Layout(call, list).run();
}

EngineBreakdown engine_breakdown(const Call& call) {
  EngineBreakdown parts;
  const Attempt* winner = call.winner();
  const EngineTimes& told = call.engine;
  if (winner == nullptr || told.source.empty()) return parts;
  const Nanos sent = winner->stamps.get(kSent);
  const Nanos end = winner->stamps.get(call.stream ? kFirstToken : kClosed);
  if (sent < 0 || end < sent) return parts;
  if (std::max({told.queue_ns, told.prefill_ns, told.kv_transfer_ns, told.first_token_ns,
                call.stream ? -1 : told.decode_ns}) < 0) {
    return parts;
  }
  parts.present = true;
  parts.interval = end - sent;
  parts.queue = std::max<Nanos>(told.queue_ns, 0);
  parts.kv_transfer = std::max<Nanos>(told.kv_transfer_ns, 0);
  // An engine that tells its first-token time and no prefill has spent the rest of it there.
  parts.prefill = told.prefill_ns >= 0
                      ? told.prefill_ns
                      : std::max<Nanos>(told.first_token_ns - parts.queue - parts.kv_transfer, 0);
  if (!call.stream) parts.decode = std::max<Nanos>(told.decode_ns, 0);
  Nanos rest = parts.interval;
  for (const Nanos part : {parts.queue, parts.prefill, parts.kv_transfer, parts.decode}) {
    if (part > rest) {
      parts.inconsistent = true;
      return parts;
    }
    rest -= part;
  }
  parts.network_and_api = rest;
  return parts;
}

}  // namespace hw::timeline
