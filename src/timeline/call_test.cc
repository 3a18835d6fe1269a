#include "timeline/call.h"

#include <doctest/doctest.h>

#include <set>

namespace hw::timeline {
namespace {

using enum AttemptStamp;

constexpr Nanos kArrivedWall = 1'767'225'600 * kSecond;

// A streamed call: body at 100, tokens from 1,100 to 3,100.
Call streamed() {
  Call call;
  call.stream = true;
  call.outcome = Outcome::kOk;
  call.arrived_wall = kArrivedWall;
  call.stamps.set_once(ExchangeStamp::kArrived, 0);
  call.stamps.set_once(ExchangeStamp::kHeadRead, 50);
  call.stamps.set_once(ExchangeStamp::kBodyRead, 100);
  call.stamps.set_once(ExchangeStamp::kFinished, 4'000);
  Attempt attempt;
  attempt.stamps.set_once(kFirstFrame, 600);
  attempt.stamps.set_once(kFirstToken, 1'100);
  attempt.stamps.set_once(kFirstVisible, 1'600);
  attempt.stamps.set_once(kLastToken, 3'100);
  call.attempts.push_back(attempt);
  call.tokens.output = 21;
  call.tokens.source = TokenSource::kUsage;
  return call;
}

TEST_CASE("first frame, token and visible token count from the end of the body") {
  const Call call = streamed();
  CHECK(ttff_ns(call) == 500);
  CHECK(ttft_ns(call) == 1'000);
  CHECK(ttfo_ns(call) == 1'500);
  CHECK(first_token_reason(call).empty());
}

TEST_CASE("time per output token is the time after the first token over the tokens after it") {
  Call call = streamed();
  CHECK(tpot_ns(call) == 100);
  call.tokens.output = 1;
  CHECK(tpot_ns(call) == -1);
  call.tokens.source = TokenSource::kNone;
  CHECK(tpot_ns(call) == -1);
  call.gaps.count = 10;  // token events are what is left to count by
  CHECK(tpot_ns(call) == 200);
}

TEST_CASE("reasoning that was counted and not streamed leaves no time per output token") {
  Call call = streamed();
  call.tokens.reasoning = 10;
  CHECK(tpot_ns(call) == 100);  // reasoning was streamed: token and visible token differ
  call.attempts[0].stamps.move_to(kFirstToken, 1'600);
  CHECK(tpot_ns(call) == -1);
}

TEST_CASE("a call that is not streamed has no first token, and says so") {
  Call call = streamed();
  call.stream = false;
  CHECK(ttff_ns(call) == -1);
  CHECK(ttft_ns(call) == -1);
  CHECK(ttfo_ns(call) == -1);
  CHECK(tpot_ns(call) == -1);
  CHECK(wall_times(call).first_token == -1);
  CHECK(first_token_reason(call) == "not_streamed");
}

TEST_CASE("a stream without a token says so") {
  Call call = streamed();
  call.attempts[0].stamps.move_to(kFirstToken, -1);
  CHECK(first_token_reason(call) == "no_token");
  call.attempts.clear();
  CHECK(first_token_reason(call) == "no_token");
  CHECK(ttft_ns(call) == -1);
  CHECK(tpot_ns(call) == -1);
}

TEST_CASE("a body that was never read makes the end of the head the time of asking") {
  Call call = streamed();
  call.attempts.clear();
  call.stamps.move_to(ExchangeStamp::kBodyRead, -1);
  CHECK(wall_times(call).enqueue == kArrivedWall + 50);
  CHECK(first_token_reason(call) == "body_never_read");
  call.stamps.move_to(ExchangeStamp::kHeadRead, -1);
  CHECK(wall_times(call).enqueue == -1);
}

TEST_CASE("the four wall times are offsets from the arrival; what is absent stays absent") {
  Call call = streamed();
  const WallTimes times = wall_times(call);
  CHECK(times.enqueue == kArrivedWall + 100);
  CHECK(times.first_token == kArrivedWall + 1'100);
  CHECK(times.last_token == kArrivedWall + 3'100);
  CHECK(times.finish == kArrivedWall + 4'000);
  call.stamps.move_to(ExchangeStamp::kFinished, -1);
  CHECK(wall_times(call).finish == -1);
}

TEST_CASE("figures of several attempts come from the last one") {
  Call call = streamed();
  Attempt failed;
  failed.stamps.set_once(kFirstToken, 200);
  call.attempts.insert(call.attempts.begin(), failed);
  CHECK(ttft_ns(call) == 1'000);
}

TEST_CASE("stamps are written once, negative offsets become 0, absent is not 0") {
  AttemptStamps stamps;
  CHECK_FALSE(stamps.has(kSent));
  CHECK(stamps.get(kSent) == AttemptStamps::kAbsent);
  stamps.set_once(kSent, -5);
  CHECK(stamps.get(kSent) == 0);
  stamps.set_once(kSent, 9);
  CHECK(stamps.get(kSent) == 0);
  stamps.move_to(kLastToken, 7);
  stamps.move_to(kLastToken, 8);
  CHECK(stamps.get(kLastToken) == 8);
}

TEST_CASE("every stamp has a name of its own") {
  std::set<std::string_view> names;
  for (int i = 0; i < kExchangeStampCount; ++i) {
    names.insert(stamp_name(static_cast<ExchangeStamp>(i)));
  }
  for (int i = 0; i < kAttemptStampCount; ++i) {
    names.insert(stamp_name(static_cast<AttemptStamp>(i)));
  }
  CHECK(names.size() == kExchangeStampCount + kAttemptStampCount);
  CHECK(names.count("?") == 0);
  CHECK(stamp_name(AttemptStamp::kFirstVisible) == "first_visible");
}

TEST_CASE("token sources have the names of the call record") {
  CHECK(token_source_name(TokenSource::kNone) == "none");
  CHECK(token_source_name(TokenSource::kEstimated) == "estimated");
  CHECK(token_source_name(TokenSource::kUsage) == "usage");
}

}  // namespace
}  // namespace hw::timeline
