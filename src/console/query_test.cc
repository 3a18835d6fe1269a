#include "console/query.h"

#include <doctest/doctest.h>

using namespace hw;
using namespace hw::console;

TEST_CASE("percent-decoding takes escapes and leaves what is none") {
  CHECK(percent_decode("a%2Fb%20c") == "a/b c");
  CHECK(percent_decode("%e6%97%b6") == "时");
  CHECK(percent_decode("100%") == "100%");
  CHECK(percent_decode("%zz%4") == "%zz%4");
  CHECK(percent_decode("a+b") == "a+b");
}

TEST_CASE("a query string gives its pairs in order") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(parse_query("") == Pairs{});
  CHECK(parse_query("a=1&b=x%26y&&c&d=") == Pairs{{"a", "1"}, {"b", "x&y"}, {"c", ""}, {"d", ""}});
  CHECK(parse_query("q=a+b%2Bc") == Pairs{{"q", "a b+c"}});
}

TEST_CASE("times are RFC 3339 or a duration back from now") {
  const Nanos now = 1'767'225'600 * kSecond;  // 2026-01-01T00:00:00Z
  CHECK(parse_time("2026-01-01T00:00:00Z", 0) == now);
  CHECK(parse_time("2026-01-01T08:00:00+08:00", 0) == now);
  CHECK(parse_time("2025-12-31T19:00:00-05:00", 0) == now);
  CHECK(parse_time("2026-01-01t00:00:00.000001z", 0) == now + 1000);
  CHECK(parse_time("2026-01-01T00:00:00.1234567899Z", 0) == now + 123'456'789);
  CHECK(parse_time("2024-02-29T00:00:00Z", 0).has_value());
  CHECK(parse_time("15m", now) == now - 900 * kSecond);
  for (const char* bad : {"", "now", "2026-01-01", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z",
                          "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00+8",
                          "15x", "m", "-5m", "1e999d", "nans", "0x10s", "2026-01-01T00:00:0xZ"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_time(bad, now).has_value());
  }
}

TEST_CASE("durations have a unit and may have a fraction") {
  CHECK(parse_duration("250ms") == 250 * kMillisecond);
  CHECK(parse_duration("1s") == kSecond);
  CHECK(parse_duration("1.5s") == 1500 * kMillisecond);
  CHECK(parse_duration("2h") == 7200 * kSecond);
  CHECK(parse_duration("7d") == 7 * 86'400 * kSecond);
  CHECK_FALSE(parse_duration("5").has_value());
  CHECK_FALSE(parse_duration("100000d").has_value());
}
