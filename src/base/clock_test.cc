#include "base/clock.h"

#include <doctest/doctest.h>

#include <string>

namespace hw {
namespace {

std::string rfc3339(Nanos wall) {
  std::string out;
  append_rfc3339(out, wall);
  return out;
}

TEST_CASE("wall time prints as RFC 3339 in UTC with microseconds") {
  CHECK(rfc3339(0) == "1970-01-01T00:00:00.000000Z");
  CHECK(rfc3339(1'767'225'600 * kSecond + 1'999) == "2026-01-01T00:00:00.000001Z");
  CHECK(rfc3339(1'709'164'799 * kSecond + 999'999'999) == "2024-02-28T23:59:59.999999Z");
  CHECK(rfc3339(1'709'164'800 * kSecond) == "2024-02-29T00:00:00.000000Z");
}

TEST_CASE("a fake clock moves both its clocks, and only when told to") {
  FakeClock clock;
  const Nanos monotonic = clock.monotonic(), wall = clock.wall();
  CHECK(clock.monotonic() == monotonic);
  clock.advance(5 * kMillisecond);
  CHECK(clock.monotonic() - monotonic == 5 * kMillisecond);
  CHECK(clock.wall() - wall == 5 * kMillisecond);
}

TEST_CASE("the machine's monotonic clock does not go back, its wall clock is in this century") {
  const SystemClock clock;
  Nanos before = clock.monotonic();
  for (int i = 0; i < 1000; ++i) {
    const Nanos now = clock.monotonic();
    REQUIRE(now >= before);
    before = now;
  }
  CHECK(clock.wall() > 1'600'000'000 * kSecond);
}

}  // namespace
}  // namespace hw
