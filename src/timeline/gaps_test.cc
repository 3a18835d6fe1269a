#include "timeline/gaps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "base/varint.h"

namespace hw::timeline {
namespace {

std::vector<TokenTime> decoded(std::string_view encoded) {
  std::vector<TokenTime> times;
  TokenTime previous, next;
  while (next_token_time(encoded, previous, next)) {
    times.push_back(next);
    previous = next;
  }
  CHECK(encoded.empty());
  return times;
}

TEST_CASE("a gap is the client's or the gateway's when that explains at least half of it") {
  CHECK(attribute_gap(100, 0, 0) == GapCause::kUpstream);
  CHECK(attribute_gap(100, 49, 20) == GapCause::kUpstream);
  CHECK(attribute_gap(100, 50, 20) == GapCause::kClient);
  CHECK(attribute_gap(100, 20, 50) == GapCause::kGateway);
  CHECK(attribute_gap(100, 70, 60) == GapCause::kClient);
  CHECK(attribute_gap(100, 60, 70) == GapCause::kGateway);
  CHECK(attribute_gap(0, 0, 0) == GapCause::kUpstream);
  CHECK(attribute_gap(INT64_MAX, INT64_MAX, 1) == GapCause::kClient);
}

TEST_CASE("the first token closes no gap, the next one closes the gap that began there") {
  GapSummary totals;
  std::string coded;
  TokenTimes times(totals, coded);
  const auto first = times.add(1'000'000, 0, 0);
  CHECK(first.first);
  CHECK(first.gap.length == 0);
  const auto second = times.add(31'000'000, 0, 20'000'000);
  CHECK_FALSE(second.first);
  CHECK(second.gap == Gap{1'000'000, 30'000'000, GapCause::kGateway});
  CHECK(times.events() == 2);
  CHECK(times.summary().count == 1);
}

TEST_CASE("tokens of one read share their time and make gaps of 0") {
  GapSummary totals;
  std::string coded;
  TokenTimes times(totals, coded);
  times.add(5000, 0, 0);
  times.add(5000, 0, 0);
  times.add(5000, 0, 0);
  const GapSummary summary = times.summary();
  CHECK(summary.count == 2);
  CHECK(summary.max == 0);
  CHECK(summary.p99 == 0);
  CHECK(summary.longest[0].length == 0);
}

TEST_CASE("a time before the last one counts as the last one") {
  GapSummary totals;
  std::string coded;
  TokenTimes times(totals, coded);
  times.add(9'000, 0, 0);
  CHECK(times.add(4'000, 0, 0).gap.length == 0);
  CHECK(times.add(10'000, 0, 0).gap.length == 1'000);
}

TEST_CASE("summary agrees with the plain computation over random streams") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    GapSummary totals;
    std::string coded;
    TokenTimes times(totals, coded);
    std::vector<Nanos> lengths;
    GapSummary expected;
    Nanos at = static_cast<Nanos>(random.below(kSecond));
    times.add(at, 0, 0);
    const uint64_t count = 1 + random.below(200);
    for (uint64_t i = 0; i < count; ++i) {
      const Nanos length = static_cast<Nanos>(random.below(50'000'000));
      const Nanos blocked = static_cast<Nanos>(random.below(50'000'000));
      const Nanos late = static_cast<Nanos>(random.below(50'000'000));
      at += length;
      times.add(at, blocked, late);
      lengths.push_back(length);
      const auto cause = static_cast<size_t>(attribute_gap(length, blocked, late));
      ++expected.count_by_cause[cause];
      expected.time_by_cause[cause] += length;
    }
    const GapSummary summary = times.summary();
    std::sort(lengths.begin(), lengths.end());
    CHECK(summary.count == count);
    CHECK(summary.max == lengths.back());
    CHECK(summary.count_by_cause == expected.count_by_cause);
    CHECK(summary.time_by_cause == expected.time_by_cause);
    // Encoded to the microsecond.
    CHECK(std::abs(summary.p50 - lengths[(count + 1) / 2 - 1]) <= kMicrosecond);
    for (size_t i = 0; i < summary.longest.size() && i < count; ++i) {
      CHECK(summary.longest[i].length == lengths[count - 1 - i]);
    }
  }
}

TEST_CASE("encoded times come back to the microsecond, rounding never adds up") {
  Random random(7);
  GapSummary totals;
  std::string coded;
  TokenTimes times(totals, coded);
  std::vector<Nanos> expected;
  Nanos at = 123'456'789;
  for (int i = 0; i < 1000; ++i) {
    times.add(at, i % 3 == 1 ? kSecond : 0, 0);
    expected.push_back(at);
    at += static_cast<Nanos>(random.below(2'000'000)) + 999;
  }
  const std::vector<TokenTime> back = decoded(times.encoded());
  REQUIRE(back.size() == expected.size());
  for (size_t i = 0; i < back.size(); ++i) {
    CHECK(back[i].at == expected[i] - expected[i] % kMicrosecond);
    CHECK(back[i].cause == (i % 3 == 1 ? GapCause::kClient : GapCause::kUpstream));
  }
}

TEST_CASE("a stream beyond the limit keeps its count, quantiles and longest gaps") {
  GapSummary totals;
  std::string coded;
  TokenTimes times(totals, coded);
  Nanos at = 0;
  const int kEvents = 20'000;
  for (int i = 0; i < kEvents; ++i) {
    times.add(at, 0, 0);
    at += i == kEvents - 2 ? 5 * kSecond : (i % 200 == 0 ? 90 : 30) * kMillisecond;
  }
  CHECK(times.encoded().size() <= TokenTimes::kBytesMax);
  CHECK(times.encoded().size() > TokenTimes::kBytesMax - kVarintBytesMax);
  const GapSummary summary = times.summary();
  CHECK(times.events() == kEvents);
  CHECK(summary.count == kEvents - 1);
  CHECK(summary.max == 5 * kSecond);
  CHECK(summary.longest[0].length == 5 * kSecond);
  CHECK(summary.longest[1].length == 90 * kMillisecond);
  CHECK(std::abs(summary.p50 - 30 * kMillisecond) < 300'000);
  CHECK(std::abs(summary.p99 - 30 * kMillisecond) < 300'000);
}

TEST_CASE("2,700 tokens 30 ms apart fit the limit") {
  GapSummary totals;
  std::string coded;
  TokenTimes times(totals, coded);
  for (int i = 0; i < 2'700; ++i) times.add(i * 30 * kMillisecond, 0, 0);
  CHECK(decoded(times.encoded()).size() == 2'700);
}

TEST_CASE("damaged times end the reading and never run on") {
  TokenTime out;
  std::string bytes;
  append_varint(bytes, 5 << 2 | 3);  // no such cause
  std::string_view in = bytes;
  CHECK_FALSE(next_token_time(in, {}, out));
  CHECK(in == bytes);
  in = "\x80\x80";  // cut short
  CHECK_FALSE(next_token_time(in, {}, out));
  bytes.clear();
  append_varint(bytes, UINT64_MAX - 3);  // beyond any clock
  in = bytes;
  CHECK_FALSE(next_token_time(in, {}, out));
  bytes.clear();
  append_varint(bytes, 4);
  in = bytes;
  TokenTime late;
  late.at = INT64_MAX - 10;
  CHECK_FALSE(next_token_time(in, late, out));
}

TEST_CASE("causes have the names of the call record") {
  CHECK(gap_cause_name(GapCause::kUpstream) == "upstream");
  CHECK(gap_cause_name(GapCause::kGateway) == "gateway");
  CHECK(gap_cause_name(GapCause::kClient) == "client");
}

}  // namespace
}  // namespace hw::timeline
