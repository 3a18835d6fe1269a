#include "journal/call_codec.h"

#include <doctest/doctest.h>

#include <vector>

#include "journal/call_samples.h"

namespace hw::journal {
namespace {

using timeline::Call;

std::string encoded(const Call& call) {
  std::vector<char> buffer(kCallBytesMax);
  return std::string(encode_call(call, buffer));
}

TEST_CASE("every call comes back as it was") {
  for (uint64_t seed = 1; seed <= 2'000; ++seed) {
    Random random(seed);
    const Call call = sample_call(random);
    const Result<Call> back = decode_call(encoded(call));
    REQUIRE(back.has_value());
    const bool same = *back == call;
    CAPTURE(seed);
    REQUIRE(same);
  }
}

TEST_CASE("a call that knows nothing but its id comes back") {
  Random random(1);
  Call call;
  call.id = RequestId::make(kSampleWall, random);
  call.trace = TraceId::of(call.id);
  const Result<Call> back = decode_call(encoded(call));
  REQUIRE(back.has_value());
  const bool same = *back == call;
  CHECK(same);
}

TEST_CASE("an ordinary call is small") {
  Random random(2);
  const Call plain = typical_call(random, kSampleWall, 0);
  const Call stream = typical_call(random, kSampleWall, 32);
  CHECK(encoded(begun_call(plain)).size() < 110);
  CHECK(encoded(plain).size() < 200);
  CHECK(encoded(stream).size() < 420);
}

TEST_CASE("the key is read without the rest") {
  Random random(3);
  Call call = sample_call(random);
  call.trace = TraceId::make(random);
  call.client_request_id = "mine";
  call.stamps.move_to(timeline::ExchangeStamp::kFinished, 77);
  const std::string record = encoded(call);
  CallKey key;
  REQUIRE(peek_call(record, key));
  CHECK(key.id() == call.id);
  CHECK(key.id_ms() == call.id.wall() / kMillisecond);
  CHECK(key.arrived_wall == call.arrived_wall);
  CHECK(key.finished == 77);
  CHECK(key.own_trace);
  CHECK(key.trace == call.trace);
  CHECK(key.client_request_id == "mine");
  call.stamps.move_to(timeline::ExchangeStamp::kFinished, -1);
  call.trace = TraceId::of(call.id);
  call.client_request_id.clear();
  const std::string open = encoded(call);
  REQUIRE(peek_call(open, key));
  CHECK(key.finished == -1);
  CHECK_FALSE(key.own_trace);
  CHECK(key.client_request_id.empty());
  const uint64_t hash = id_hash(key.id_bytes);
  CHECK(hash == id_hash(call.id.bytes()));
  CHECK(hash != id_hash(sample_call(random).id.bytes()));
}

TEST_CASE("a call beyond the limits is cut, not lost") {
  Random random(4);
  Call call = typical_call(random, kSampleWall, 10);
  call.error.code = "channel_error";
  call.error.message = std::string(1 << 20, 'x');
  const Result<Call> clipped = decode_call(encoded(call));
  REQUIRE(clipped.has_value());
  CHECK(clipped->error.message == std::string(4096, 'x'));
  CHECK(clipped->token_times == call.token_times);

  call.attempts.assign(300, call.attempts[0]);
  call.attempts.back().channel = "the winner";
  for (auto& attempt : call.attempts) attempt.error.message = std::string(4000, 'y');
  call.lossy.assign(100, std::string(4000, 'z'));
  timeline::Skipped skipped;
  skipped.channel = skipped.reason = std::string(4000, 's');
  call.skipped.assign(100, skipped);
  const Result<Call> tight = decode_call(encoded(call));
  REQUIRE(tight.has_value());
  CHECK(tight->attempts.size() == 128);
  CHECK(tight->attempts.back().channel == "the winner");
  CHECK(tight->error.message.size() == 64);
  CHECK(tight->lossy.size() == 64);
  CHECK(tight->skipped.size() == 64);
  CHECK(tight->token_times.empty());
  CHECK(tight->gaps == call.gaps);
}

TEST_CASE("a record that is cut anywhere is damaged, and no byte is read behind it") {
  Random random(5);
  const std::string record = encoded(sample_call(random));
  for (size_t cut = 0; cut < record.size(); ++cut) {
    // A copy of the exact size, so that a sanitizer sees a read behind the end.
    const std::vector<char> part(record.begin(), record.begin() + static_cast<long>(cut));
    CHECK_FALSE(decode_call({part.data(), part.size()}).has_value());
  }
  CHECK_FALSE(decode_call(record + "x").has_value());
}

TEST_CASE("random damage never crashes and never yields what cannot be written again") {
  Random random(6);
  int survived = 0;
  for (int i = 0; i < 5'000; ++i) {
    Random fresh(random.below(50));
    std::string record = encoded(sample_call(fresh));
    for (uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      record[random.below(record.size())] = static_cast<char>(random.next());
    }
    const Result<Call> call = decode_call(record);
    if (!call.has_value()) continue;
    ++survived;
    const Result<Call> again = decode_call(encoded(*call));
    REQUIRE(again.has_value());
    const bool same = *again == *call;
    REQUIRE(same);
  }
  CHECK(survived > 50);
}

TEST_CASE("a record of a newer version says so") {
  Random random(7);
  std::string record = encoded(sample_call(random));
  record[0] = 9;
  const Result<Call> call = decode_call(record);
  REQUIRE_FALSE(call.has_value());
  CHECK(call.error().code == ErrorCode::kStore);
  CHECK(call.error().message.find("newer") != std::string::npos);
  CallKey key;
  CHECK_FALSE(peek_call(record, key));
}

}  // namespace
}  // namespace hw::journal
