#include "base/varint.h"

#include <doctest/doctest.h>

#include "base/random.h"

namespace hw {
namespace {

TEST_CASE("numbers come back, and small ones are short") {
  std::string bytes;
  append_varint(bytes, 127);
  CHECK(bytes.size() == 1);
  append_varint(bytes, 128);
  CHECK(bytes.size() == 3);
  append_varint(bytes, UINT64_MAX);
  CHECK(bytes.size() == 3 + kVarintBytesMax);
  std::string_view in = bytes;
  uint64_t value = 0;
  for (const uint64_t expected : {uint64_t{127}, uint64_t{128}, UINT64_MAX}) {
    REQUIRE(read_varint(in, value));
    CHECK(value == expected);
  }
  CHECK(in.empty());
  CHECK_FALSE(read_varint(in, value));
}

TEST_CASE("random numbers of every length come back") {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t expected = random.next() >> random.below(64);
    std::string bytes;
    append_varint(bytes, expected);
    std::string_view in = bytes;
    uint64_t value = 0;
    REQUIRE(read_varint(in, value));
    REQUIRE(value == expected);
    const auto number = static_cast<int64_t>(expected);
    REQUIRE(unzigzag(zigzag(number)) == number);
    REQUIRE(unzigzag(zigzag(-number)) == -number);
  }
  CHECK(zigzag(0) == 0);
  CHECK(zigzag(-1) == 1);
  CHECK(zigzag(1) == 2);
  CHECK(unzigzag(zigzag(INT64_MIN)) == INT64_MIN);
}

TEST_CASE("cut and oversized numbers are refused and leave the input as it was") {
  for (const std::string_view bytes :
       {std::string_view("\xff"), std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        std::string_view("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")}) {
    std::string_view in = bytes;
    uint64_t value = 42;
    CHECK_FALSE(read_varint(in, value));
    CHECK(in == bytes);
    CHECK(value == 42);
  }
}

}  // namespace
}  // namespace hw
