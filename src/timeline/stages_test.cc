#include "timeline/stages.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"

namespace hw::timeline {
namespace {

using enum AttemptStamp;

// `stage[attempt]@start-end ...`, so that a failing check shows the whole list.
std::string shown(const StageList& list) {
  std::string out;
  for (const Stage& stage : list.stages) {
    if (!out.empty()) out += ' ';
    append(out, stage_name(stage.kind));
    if (stage.attempt >= 0) out += concat("[", stage.attempt, "]");
    out += concat("@", stage.start, "-", stage.end);
  }
  return out;
}

using Stamped = std::vector<std::pair<AttemptStamp, Nanos>>;

Attempt attempt_of(const Stamped& stamps, Outcome outcome = Outcome::kOk, int status = 200) {
  Attempt attempt;
  for (const auto& [stamp, at] : stamps) attempt.stamps.set_once(stamp, at);
  attempt.outcome = outcome;
  attempt.status = status;
  return attempt;
}

// Head at 5, body at 10, authorized at 12, admitted at 20; finished as told (-1: not).
Call call_of(std::vector<Attempt> attempts, Nanos finished, Outcome outcome = Outcome::kOk,
             bool stream = true) {
  Call call;
  call.stamps.set_once(ExchangeStamp::kArrived, 0);
  call.stamps.set_once(ExchangeStamp::kHeadRead, 5);
  call.stamps.set_once(ExchangeStamp::kBodyRead, 10);
  call.stamps.set_once(ExchangeStamp::kAuthorized, 12);
  call.stamps.set_once(ExchangeStamp::kAdmitted, 20);
  if (finished >= 0) call.stamps.set_once(ExchangeStamp::kFinished, finished);
  call.attempts = std::move(attempts);
  call.outcome = outcome;
  call.status = 200;
  call.stream = stream;
  return call;
}

TEST_CASE("a streamed answer over a new connection has every stage in its order") {
  const Call call = call_of({attempt_of({{kBegun, 25},
                                         {kLeased, 26},
                                         {kResolved, 30},
                                         {kConnected, 40},
                                         {kSecured, 55},
                                         {kSent, 60},
                                         {kHead, 70},
                                         {kFirstByte, 80},
                                         {kFirstFrame, 80},
                                         {kFirstToken, 90},
                                         {kFirstVisible, 95},
                                         {kLastToken, 190},
                                         {kTerminal, 191},
                                         {kClosed, 195}})},
                            200);
  const StageList list = stages(call);
  CHECK(shown(list) ==
        "upload@0-10 authorize@10-12 queue@12-20 route@20-25 pool[0]@25-26 dns[0]@26-30 "
        "connect[0]@30-40 tls[0]@40-55 send[0]@55-60 wait[0]@60-80 first_token[0]@80-90 "
        "decode[0]@90-190 tail[0]@190-195 deliver@195-200");
  CHECK(list.clamped == 0);
  CHECK(list.unexplained == 0);
  CHECK(list.total == call.total_ns());
}

TEST_CASE("an answer that is not streamed waits for its first body byte, then has a tail") {
  const Call call = call_of({attempt_of({{kBegun, 25},
                                         {kLeased, 26},
                                         {kSent, 30},
                                         {kHead, 80},
                                         {kFirstByte, 85},
                                         {kClosed, 90}})},
                            95, Outcome::kOk, false);
  CHECK(shown(stages(call)) ==
        "upload@0-10 authorize@10-12 queue@12-20 route@20-25 pool[0]@25-26 send[0]@26-30 "
        "wait[0]@30-85 tail[0]@85-90 deliver@90-95");
}

TEST_CASE("a complete answer without a body ends its wait with the head") {
  const Call call = call_of(
      {attempt_of({{kBegun, 20}, {kLeased, 20}, {kSent, 30}, {kHead, 80}, {kClosed, 90}})}, 95);
  CHECK(shown(stages(call)) ==
        "upload@0-10 authorize@10-12 queue@12-20 send[0]@20-30 wait[0]@30-80 tail[0]@80-90 "
        "deliver@90-95");
}

TEST_CASE("an answer that comes before the request is out ends the sending, and is no disorder") {
  Call call = call_of(
      {attempt_of(
          {{kBegun, 20}, {kLeased, 20}, {kHead, 30}, {kFirstByte, 31}, {kSent, 50}, {kClosed, 60}},
          Outcome::kClientError, 413)},
      70, Outcome::kClientError);
  const std::string expected =
      "upload@0-10 authorize@10-12 queue@12-20 send[0]@20-30 wait[0]@30-31 tail[0]@31-60 "
      "deliver@60-70";
  CHECK(shown(stages(call)) == expected);
  CHECK(stages(call).clamped == 0);
  call.attempts[0] =
      attempt_of({{kBegun, 20}, {kLeased, 20}, {kHead, 30}, {kFirstByte, 31}, {kClosed, 60}},
                 Outcome::kClientError, 413);
  CHECK(shown(stages(call)) == expected);
}

TEST_CASE("failed attempts are one stage each, with their back-off, and the next one is routed") {
  const Attempt refused = attempt_of({{kBegun, 25}, {kLeased, 26}, {kConnected, 30}, {kClosed, 40}},
                                     Outcome::kUpstreamError, 0);
  const Attempt limited = attempt_of({{kBegun, 42},
                                      {kLeased, 43},
                                      {kSent, 44},
                                      {kHead, 50},
                                      {kFirstByte, 51},
                                      {kClosed, 52},
                                      {kResumed, 80}},
                                     Outcome::kUpstreamError, 429);
  const Attempt good = attempt_of({{kBegun, 81},
                                   {kLeased, 82},
                                   {kSent, 85},
                                   {kFirstByte, 90},
                                   {kFirstToken, 90},
                                   {kLastToken, 99},
                                   {kClosed, 100}});
  const StageList list = stages(call_of({refused, limited, good}, 100));
  CHECK(shown(list) ==
        "upload@0-10 authorize@10-12 queue@12-20 route@20-25 failed[0]@25-40 route@40-42 "
        "failed[1]@42-52 backoff[1]@52-80 route@80-81 pool[2]@81-82 send[2]@82-85 wait[2]@85-90 "
        "decode[2]@90-99 tail[2]@99-100");
  CHECK(list.unexplained == 0);
}

TEST_CASE("a client that leaves during a back-off leaves a failed attempt and the back-off") {
  const Attempt limited = attempt_of({{kBegun, 20}, {kSent, 30}, {kClosed, 40}, {kResumed, 70}},
                                     Outcome::kUpstreamError, 429);
  CHECK(shown(stages(call_of({limited}, 72, Outcome::kClientGone))) ==
        "upload@0-10 authorize@10-12 queue@12-20 failed[0]@20-40 backoff[0]@40-70 route@70-72");
}

TEST_CASE("a failed attempt that was never closed lasts until what comes next") {
  const Attempt open = attempt_of({{kBegun, 25}, {kSent, 30}}, Outcome::kUpstreamError, 0);
  const Attempt good =
      attempt_of({{kBegun, 50}, {kLeased, 50}, {kSent, 60}, {kFirstByte, 70}, {kClosed, 80}});
  CHECK(shown(stages(call_of({open, good}, 80))) ==
        "upload@0-10 authorize@10-12 queue@12-20 route@20-25 failed[0]@25-50 send[1]@50-60 "
        "wait[1]@60-70 tail[1]@70-80");
}

struct BrokenOff {
  const char* what;
  Stamped stamps;
  Outcome outcome;
  const char* expected;  // of the attempt, until 100, where it is closed
};

TEST_CASE("an attempt that ends early gives its last time to what was going on") {
  const std::vector<BrokenOff> cases = {
      {"pool wait ran out", {{kBegun, 20}}, Outcome::kTimeout, "pool[0]@20-100"},
      {"connect failed",
       {{kBegun, 20}, {kLeased, 30}, {kResolved, 40}},
       Outcome::kUpstreamError,
       "pool[0]@20-30 dns[0]@30-40 connect[0]@40-100"},
      {"resolving failed",
       {{kBegun, 20}, {kLeased, 30}},
       Outcome::kUpstreamError,
       "pool[0]@20-30 connect[0]@30-100"},
      {"client left while sending",
       {{kBegun, 20}, {kLeased, 30}, {kConnected, 40}},
       Outcome::kClientGone,
       "pool[0]@20-30 connect[0]@30-40 send[0]@40-100"},
      {"client left before the head",
       {{kBegun, 20}, {kLeased, 20}, {kSent, 30}},
       Outcome::kClientGone,
       "send[0]@20-30 wait[0]@30-100"},
      {"client left between head and body",
       {{kBegun, 20}, {kLeased, 20}, {kSent, 30}, {kHead, 40}},
       Outcome::kClientGone,
       "send[0]@20-30 wait[0]@30-100"},
      {"first-token time-out after a role chunk",
       {{kBegun, 20}, {kLeased, 20}, {kSent, 30}, {kFirstByte, 40}, {kFirstFrame, 40}},
       Outcome::kTimeout,
       "send[0]@20-30 wait[0]@30-40 first_token[0]@40-100"},
      {"stream broke between tokens",
       {{kBegun, 20},
        {kLeased, 20},
        {kSent, 30},
        {kFirstByte, 40},
        {kFirstToken, 40},
        {kLastToken, 60}},
       Outcome::kUpstreamError,
       "send[0]@20-30 wait[0]@30-40 decode[0]@40-100"},
      {"stream broke after its final event",
       {{kBegun, 20},
        {kLeased, 20},
        {kSent, 30},
        {kFirstByte, 40},
        {kFirstToken, 40},
        {kLastToken, 60},
        {kTerminal, 61}},
       Outcome::kUpstreamError,
       "send[0]@20-30 wait[0]@30-40 decode[0]@40-60 tail[0]@60-100"},
  };
  for (const BrokenOff& broken : cases) {
    CAPTURE(broken.what);
    Attempt attempt = attempt_of(broken.stamps, broken.outcome);
    const std::string begin = "upload@0-10 authorize@10-12 queue@12-20 ";
    // Not closed: the same, until the end of the exchange.
    CHECK(shown(stages(call_of({attempt}, 100, broken.outcome))) == begin + broken.expected);
    attempt.stamps.set_once(kClosed, 100);
    const StageList list = stages(call_of({attempt}, 110, broken.outcome));
    CHECK(shown(list) == begin + broken.expected + " deliver@100-110");
    CHECK(list.unexplained == 0);
  }
}

TEST_CASE("a connection that was established and failed to connect was in its TLS handshake") {
  Attempt attempt = attempt_of({{kBegun, 20}, {kLeased, 20}, {kConnected, 40}, {kClosed, 90}},
                               Outcome::kUpstreamError, 0);
  attempt.error.code = "channel_connect";
  CHECK(shown(stages(call_of({attempt}, 90, Outcome::kUpstreamError))) ==
        "upload@0-10 authorize@10-12 queue@12-20 connect[0]@20-40 tls[0]@40-90");
}

TEST_CASE("a reused connection that breaks at once was being written to") {
  Attempt attempt =
      attempt_of({{kBegun, 20}, {kLeased, 30}, {kClosed, 40}}, Outcome::kUpstreamError, 0);
  attempt.connection.reused = true;
  CHECK(shown(stages(call_of({attempt}, 40, Outcome::kUpstreamError))) ==
        "upload@0-10 authorize@10-12 queue@12-20 pool[0]@20-30 send[0]@30-40");
}

TEST_CASE("an upstream's error answer to a streamed request has a tail, no first token") {
  const Attempt attempt = attempt_of(
      {{kBegun, 20}, {kLeased, 20}, {kSent, 30}, {kHead, 40}, {kFirstByte, 41}, {kClosed, 50}},
      Outcome::kClientError, 400);
  CHECK(shown(stages(call_of({attempt}, 50, Outcome::kClientError))) ==
        "upload@0-10 authorize@10-12 queue@12-20 send[0]@20-30 wait[0]@30-41 tail[0]@41-50");
}

struct NoAttempt {
  const char* what;
  std::vector<std::pair<ExchangeStamp, Nanos>> stamps;
  Outcome outcome;
  int status;
  const char* expected;  // until 100
};

TEST_CASE("an exchange without an attempt says what it was doing when it ended") {
  using E = ExchangeStamp;
  const std::vector<NoAttempt> cases = {
      {"refused on the head",
       {{E::kHeadRead, 5}},
       Outcome::kRejected,
       401,
       "upload@0-5 authorize@5-100"},
      {"refused on the head, with the moment",
       {{E::kHeadRead, 5}, {E::kAuthorized, 9}},
       Outcome::kRejected,
       401,
       "upload@0-5 authorize@5-9 deliver@9-100"},
      {"body too slow", {{E::kHeadRead, 5}}, Outcome::kRejected, 408, "upload@0-100"},
      {"body too large", {{E::kHeadRead, 5}}, Outcome::kRejected, 413, "upload@0-100"},
      {"left during the upload", {{E::kHeadRead, 5}}, Outcome::kClientGone, 499, "upload@0-100"},
      {"left during the head", {}, Outcome::kClientGone, 499, "upload@0-100"},
      {"bad JSON",
       {{E::kHeadRead, 5}, {E::kBodyRead, 8}},
       Outcome::kRejected,
       400,
       "upload@0-8 authorize@8-100"},
      {"unknown model",
       {{E::kHeadRead, 5}, {E::kBodyRead, 8}, {E::kAuthorized, 9}},
       Outcome::kRejected,
       404,
       "upload@0-8 authorize@8-9 deliver@9-100"},
      {"left in the queue",
       {{E::kHeadRead, 5}, {E::kBodyRead, 8}, {E::kAuthorized, 9}},
       Outcome::kClientGone,
       499,
       "upload@0-8 authorize@8-9 queue@9-100"},
      {"refused after the queue",
       {{E::kHeadRead, 5}, {E::kBodyRead, 8}, {E::kAuthorized, 9}, {E::kAdmitted, 50}},
       Outcome::kRejected,
       429,
       "upload@0-8 authorize@8-9 queue@9-50 deliver@50-100"},
      {"answered by us",
       {{E::kHeadRead, 5}, {E::kBodyRead, 5}, {E::kAuthorized, 9}},
       Outcome::kOk,
       200,
       "upload@0-5 authorize@5-9 deliver@9-100"},
  };
  for (const NoAttempt& refused : cases) {
    CAPTURE(refused.what);
    Call call;
    call.stamps.set_once(E::kArrived, 0);
    for (const auto& [stamp, at] : refused.stamps) call.stamps.set_once(stamp, at);
    call.stamps.set_once(E::kFinished, 100);
    call.outcome = refused.outcome;
    call.status = refused.status;
    CHECK(shown(stages(call)) == refused.expected);
    CHECK(stages(call).unexplained == 0);
  }
}

TEST_CASE("time behind a stamp that is missing is unexplained, not given to a neighbour") {
  // Complete, but nobody noted when the request was out.
  const StageList list = stages(
      call_of({attempt_of({{kBegun, 20}, {kLeased, 30}, {kFirstByte, 80}, {kClosed, 90}})}, 95));
  CHECK(shown(list) ==
        "upload@0-10 authorize@10-12 queue@12-20 pool[0]@20-30 unexplained[0]@30-80 "
        "tail[0]@80-90 deliver@90-95");
  CHECK(list.unexplained == 50);
  Call bare;
  bare.outcome = Outcome::kOk;
  bare.stamps.set_once(ExchangeStamp::kFinished, 40);
  CHECK(shown(stages(bare)) == "unexplained@0-40");
}

TEST_CASE("a stamp before its predecessor is moved to it and counted") {
  const StageList list = stages(call_of({attempt_of({{kBegun, 15},  // before admitted at 20
                                                     {kLeased, 30},
                                                     {kSent, 40},
                                                     {kFirstByte, 60},
                                                     {kFirstToken, 50},  // before first_byte
                                                     {kLastToken, 70},
                                                     {kClosed, 200}})},  // after the end
                                        100));
  CHECK(shown(list) ==
        "upload@0-10 authorize@10-12 queue@12-20 pool[0]@20-30 send[0]@30-40 wait[0]@40-60 "
        "decode[0]@60-70 tail[0]@70-100");
  CHECK(list.clamped == 3);
}

TEST_CASE("an exchange that is not finished ends at its last stamp") {
  const StageList list = stages(call_of(
      {attempt_of({{kBegun, 20}, {kLeased, 20}, {kSent, 30}, {kHead, 44}}, Outcome::kInterrupted)},
      -1, Outcome::kInterrupted));
  CHECK(list.total == 44);
  CHECK(list.stages.back().end == 44);
}

// --- properties over random calls ---

Outcome random_outcome(Random& random) {
  return static_cast<Outcome>(random.below(kOutcomeCount));
}

// Stamps in order, each with the chance `keep` of being there; the time moves on.
template <class Set, class Enum>
void stamp_in_order(Random& random, Set& set, int first, int count, double keep, Nanos& now) {
  for (int i = first; i < count; ++i) {
    if (random.unit() >= keep) continue;
    now += static_cast<Nanos>(random.below(4) == 0 ? 0 : random.below(1'000'000'000));
    set.set_once(static_cast<Enum>(i), now);
  }
}

Call random_call(Random& random, double keep) {
  Call call;
  Nanos now = 0;
  call.stream = random.below(2) == 0;
  call.outcome = random_outcome(random);
  call.status = static_cast<int>(random.below(6) * 100 + random.below(20));
  call.stamps.set_once(ExchangeStamp::kArrived, 0);
  stamp_in_order<ExchangeStamps, ExchangeStamp>(random, call.stamps, 1, 5, keep, now);
  const uint64_t attempts = random.below(6);
  for (uint64_t i = 0; i < attempts; ++i) {
    Attempt attempt;
    attempt.outcome = random_outcome(random);
    attempt.status = static_cast<int>(random.below(6) * 100);
    attempt.connection.reused = random.below(2) == 0;
    const int last =
        i + 1 < attempts && random.below(2) == 0 ? kAttemptStampCount : kAttemptStampCount - 1;
    stamp_in_order<AttemptStamps, AttemptStamp>(random, attempt.stamps, 0, last, keep, now);
    call.attempts.push_back(attempt);
  }
  if (random.unit() < keep) {
    call.stamps.set_once(ExchangeStamp::kFinished, now + static_cast<Nanos>(random.below(1000)));
  }
  return call;
}

// Moves some stamps anywhere.
void disorder(Random& random, Call& call) {
  const auto anywhere = [&] { return static_cast<Nanos>(random.below(20'000'000'000)); };
  for (int i = 0; i < kExchangeStampCount; ++i) {
    if (random.below(3) == 0) call.stamps.move_to(static_cast<ExchangeStamp>(i), anywhere());
  }
  for (Attempt& attempt : call.attempts) {
    for (int i = 0; i < kAttemptStampCount; ++i) {
      if (random.below(3) == 0) attempt.stamps.move_to(static_cast<AttemptStamp>(i), anywhere());
    }
  }
}

Nanos last_stamp(const Call& call) {
  Nanos last = 0;
  for (int i = 0; i < kExchangeStampCount; ++i) {
    last = std::max(last, call.stamps.get(static_cast<ExchangeStamp>(i)));
  }
  for (const Attempt& attempt : call.attempts) {
    for (int i = 0; i < kAttemptStampCount; ++i) {
      last = std::max(last, attempt.stamps.get(static_cast<AttemptStamp>(i)));
    }
  }
  return last;
}

// The first thing that is wrong with the list, empty where it is conserved.
std::string flaw(const Call& call, const StageList& list) {
  const bool finished = call.stamps.has(ExchangeStamp::kFinished);
  const Nanos total = finished ? call.total_ns() : last_stamp(call);
  if (list.total != total) return concat("total ", list.total, ", expected ", total);
  Nanos at = 0, sum = 0, unexplained = 0;
  for (const Stage& stage : list.stages) {
    if (stage.start != at) return concat("hole or overlap at ", at);
    if (stage.end <= stage.start) return concat("empty stage at ", at);
    const int attempts = static_cast<int>(call.attempts.size());
    if (stage.attempt < -1 || stage.attempt >= attempts) return "attempt out of range";
    at = stage.end;
    sum += stage.length();
    if (stage.kind == StageKind::kUnexplained) unexplained += stage.length();
  }
  if (at != total || sum != total) return concat("ends at ", at, ", sums to ", sum);
  if (unexplained != list.unexplained) return "unexplained is miscounted";
  return {};
}

TEST_CASE("stages are conserved for random, partial and disordered stamps") {
  for (uint64_t seed = 1; seed <= 20'000; ++seed) {
    Random random(seed);
    const double keep = random.below(3) == 0 ? 1.0 : random.unit();
    Call call = random_call(random, keep);
    const bool disordered = seed % 2 == 0;
    if (disordered) disorder(random, call);
    const StageList list = stages(call);
    const std::string wrong = flaw(call, list);
    if (wrong.empty() && (disordered || list.clamped == 0)) continue;
    FAIL("seed " << seed << ": " << wrong << ", clamped " << list.clamped << ": " << shown(list));
  }
}

// What a stamp before its predecessor does, counted without the layout.
uint32_t disorder_of(const Call& call) {
  const Nanos end = call.stamps.has(ExchangeStamp::kFinished) ? call.total_ns() : INT64_MAX;
  Nanos latest = 0;
  uint32_t count = call.stamps.get(ExchangeStamp::kArrived) > 0 ? 1 : 0;
  const auto look = [&](Nanos at) {
    if (at < 0) return;
    const Nanos moved = std::max(std::min(at, end), latest);
    count += moved != at;
    latest = moved;
  };
  for (int i = 1; i < kExchangeStampCount - 1; ++i) {
    look(call.stamps.get(static_cast<ExchangeStamp>(i)));
  }
  for (const Attempt& attempt : call.attempts) {
    for (int i = 0; i < kAttemptStampCount; ++i) {
      look(attempt.stamps.get(static_cast<AttemptStamp>(i)));
    }
  }
  return count;
}

TEST_CASE("every stamp that is out of order is counted") {
  for (uint64_t seed = 1; seed <= 5'000; ++seed) {
    Random random(seed);
    Call call = random_call(random, 0.8);
    disorder(random, call);
    // An early answer is no disorder; keep it out of this count.
    for (Attempt& attempt : call.attempts) attempt.stamps.move_to(kHead, AttemptStamps::kAbsent);
    if (stages(call).clamped == disorder_of(call)) continue;
    FAIL("seed " << seed << ": " << stages(call).clamped << ", expected " << disorder_of(call));
  }
}

// A call as the gateway makes it: every stamp that its path has.
Call well_stamped(Random& random) {
  Call call = random_call(random, 1.0);
  call.outcome = Outcome::kOk;
  if (call.attempts.empty()) return call;
  for (size_t i = 0; i + 1 < call.attempts.size(); ++i) {
    call.attempts[i].outcome = Outcome::kUpstreamError;
  }
  Attempt& winner = call.attempts.back();
  winner.outcome = Outcome::kOk;
  winner.stamps.move_to(kResumed, AttemptStamps::kAbsent);
  winner.connection.reused = random.below(2) == 0;
  const auto drop = [&](AttemptStamp stamp) {
    winner.stamps.move_to(stamp, AttemptStamps::kAbsent);
  };
  if (winner.connection.reused) drop(kResolved), drop(kConnected), drop(kSecured);
  if (random.below(2) == 0) drop(kSecured);
  if (!call.stream) {
    for (AttemptStamp stamp : {kFirstFrame, kFirstToken, kFirstVisible, kLastToken, kTerminal}) {
      drop(stamp);
    }
  }
  return call;
}

TEST_CASE("nothing is unexplained in a complete call that has the stamps of its path") {
  for (uint64_t seed = 1; seed <= 5'000; ++seed) {
    Random random(seed);
    const Call call = well_stamped(random);
    const StageList list = stages(call);
    if (list.unexplained == 0 && flaw(call, list).empty()) continue;
    FAIL("seed " << seed << ": " << shown(list));
  }
}

TEST_CASE("stage names lead back to their stage") {
  for (int i = 0; i < kStageKindCount; ++i) {
    const auto kind = static_cast<StageKind>(i);
    StageKind parsed = StageKind::kUpload;
    REQUIRE(parse_stage(stage_name(kind), parsed));
    CHECK(parsed == kind);
  }
  StageKind untouched = StageKind::kTail;
  CHECK_FALSE(parse_stage("lunch", untouched));
  CHECK(untouched == StageKind::kTail);
}

// --- the engine's own durations ---

Call engine_call(bool stream) {
  Call call = call_of({attempt_of({{kSent, 100},
                                   {kFirstToken, stream ? 400 : -1},
                                   {kLastToken, stream ? 900 : -1},
                                   {kClosed, 1000}})},
                      1000, Outcome::kOk, stream);
  call.engine.source = "headway";
  return call;
}

TEST_CASE("engine durations break down sent to first token, the rest is network and api") {
  Call call = engine_call(true);
  call.engine.queue_ns = 50;
  call.engine.prefill_ns = 200;
  call.engine.decode_ns = 500;  // comes after the first token
  const EngineBreakdown parts = engine_breakdown(call);
  CHECK(parts.present);
  CHECK_FALSE(parts.inconsistent);
  CHECK(parts.interval == 300);
  CHECK(parts.queue == 50);
  CHECK(parts.prefill == 200);
  CHECK(parts.kv_transfer == 0);
  CHECK(parts.decode == 0);
  CHECK(parts.network_and_api == 50);
}

TEST_CASE("without a stream the engine's durations break down sent to closed") {
  Call call = engine_call(false);
  call.attempts[0].stamps.move_to(kFirstToken, -1);
  call.attempts[0].stamps.move_to(kLastToken, -1);
  call.engine.queue_ns = 50;
  call.engine.prefill_ns = 200;
  call.engine.decode_ns = 500;
  const EngineBreakdown parts = engine_breakdown(call);
  CHECK(parts.interval == 900);
  CHECK(parts.decode == 500);
  CHECK(parts.network_and_api == 150);
}

TEST_CASE("engine durations that exceed their interval are shown and marked") {
  Call call = engine_call(true);
  call.engine.queue_ns = 250;
  call.engine.prefill_ns = 51;
  const EngineBreakdown parts = engine_breakdown(call);
  CHECK(parts.inconsistent);
  CHECK(parts.queue == 250);
  CHECK(parts.prefill == 51);
  CHECK(parts.network_and_api == 0);
  call.engine.queue_ns = INT64_MAX;  // no sum may overflow
  CHECK(engine_breakdown(call).inconsistent);
}

TEST_CASE("an engine that tells only its first-token time spent it in prefill") {
  Call call = engine_call(true);
  call.engine.first_token_ns = 260;
  call.engine.queue_ns = 60;
  CHECK(engine_breakdown(call).prefill == 200);
  CHECK(engine_breakdown(call).network_and_api == 40);
}

TEST_CASE("there is no engine breakdown without durations or without the interval") {
  CHECK_FALSE(engine_breakdown(engine_call(true)).present);  // a source and no durations
  Call call = engine_call(true);
  call.engine.prefill_ns = 1;
  CHECK(engine_breakdown(call).present);
  call.attempts[0].stamps.move_to(kFirstToken, -1);
  CHECK_FALSE(engine_breakdown(call).present);
  call.attempts.clear();
  CHECK_FALSE(engine_breakdown(call).present);
  call = engine_call(true);
  call.engine.prefill_ns = 1;
  call.engine.source.clear();
  CHECK_FALSE(engine_breakdown(call).present);
}

}  // namespace
}  // namespace hw::timeline
