#include "base/ids.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace hw {
namespace {

constexpr Nanos kWall = 1'767'225'600 * kSecond + 123 * kMillisecond + 456;

TEST_CASE("request ids look as promised, carry their time and sort by it") {
  Random random(1);
  const RequestId early = RequestId::make(kWall, random);
  const RequestId late = RequestId::make(kWall + kMillisecond, random);
  CHECK(early.view().size() == 30);
  CHECK(early.view().substr(0, 4) == "req_");
  CHECK(early.wall() == kWall - 456);
  CHECK(early.view() < late.view());
}

TEST_CASE("request ids of one millisecond differ") {
  Random random(2);
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) seen.emplace(RequestId::make(kWall, random).view());
  CHECK(seen.size() == 10'000);
}

TEST_CASE("only a request id parses as one") {
  Random random(3);
  const RequestId id = RequestId::make(kWall, random);
  const std::string text(id.view());
  RequestId parsed;
  REQUIRE(RequestId::parse(text, parsed));
  CHECK(parsed == id);
  for (size_t cut = 0; cut < text.size(); ++cut) {
    CHECK_FALSE(RequestId::parse(text.substr(0, cut), parsed));
  }
  for (size_t i = 0; i < text.size(); ++i) {
    std::string bad = text;
    bad[i] = i < 4 ? 'x' : 'U';  // not in Crockford's alphabet
    CHECK_FALSE(RequestId::parse(bad, parsed));
  }
  CHECK_FALSE(RequestId::parse(text + "0", parsed));
}

TEST_CASE("the bytes of a request id lead back to it and sort like it") {
  Random random(4);
  RequestId before = RequestId::make(0, random);
  for (int i = 0; i < 2'000; ++i) {
    const RequestId id = RequestId::make(static_cast<Nanos>(random.next() >> 1), random);
    CHECK(RequestId::from_bytes(id.bytes()) == id);
    CHECK((id.bytes() < before.bytes()) == (id.view() < before.view()));
    before = id;
  }
}

TEST_CASE("the trace of a request without one is its id") {
  Random random(5);
  const RequestId id = RequestId::make(kWall, random);
  const TraceId trace = TraceId::of(id);
  CHECK(trace == TraceId::of(id));
  CHECK((trace.high | trace.low) != 0);
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(trace.high >> (56 - 8 * i));
  for (size_t i = 0; i < 8; ++i) bytes[8 + i] = static_cast<uint8_t>(trace.low >> (56 - 8 * i));
  CHECK(RequestId::from_bytes(bytes) == id);
}

TEST_CASE("trace ids print as 32 hex digits and parse back") {
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    const TraceId trace = TraceId::make(random);
    TraceId parsed;
    REQUIRE(TraceId::parse(trace.hex(), parsed));
    CHECK(parsed == trace);
  }
  TraceId parsed;
  REQUIRE(TraceId::parse("0AF7651916CD43DD8448EB211C80319C", parsed));
  CHECK(parsed.hex() == "0af7651916cd43dd8448eb211c80319c");
  CHECK_FALSE(TraceId::parse("0af7651916cd43dd8448eb211c80319", parsed));
  CHECK_FALSE(TraceId::parse("0af7651916cd43dd8448eb211c80319g", parsed));
}

TEST_CASE("a traceparent is read as the recommendation says") {
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const TraceParent parsed = TraceParent::parse(good);
  CHECK(parsed.valid());
  CHECK(parsed.flags == 1);
  std::string printed;
  parsed.append(printed);
  CHECK(printed == good);
  // A later version may be longer; what is known of it is read.
  CHECK(TraceParent::parse("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more").valid());
  for (const char* bad : {
           "",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",    // forbidden version
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",    // no trace
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",    // no parent
           "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",    // upper case
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",     // short
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",  // long in version 00
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
       }) {
    CAPTURE(bad);
    CHECK_FALSE(TraceParent::parse(bad).valid());
  }
}

TEST_CASE("bytes print as lower-case hex") {
  std::string out = "x";
  append_hex(out, "\x00\xff\x1a", 3);
  CHECK(out == "x00ff1a");
}

}  // namespace
}  // namespace hw
