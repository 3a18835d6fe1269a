#include "base/text.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace hw {
namespace {

TEST_CASE("concat joins text, characters and numbers") {
  CHECK(concat("took ", 12, " ms, ", uint64_t{18446744073709551615u}, '!', std::string("x"), -7) ==
        "took 12 ms, 18446744073709551615!x-7");
  CHECK(concat() == "");
}

TEST_CASE("a star at the end of a pattern stands for the rest, anywhere else for itself") {
  CHECK(matches_pattern("a-b", "a-b"));
  CHECK_FALSE(matches_pattern("a-b", "a-bc"));
  CHECK(matches_pattern("a-*", "a-"));
  CHECK(matches_pattern("a-*", "a-bc"));
  CHECK(matches_pattern("*", ""));
  CHECK_FALSE(matches_pattern("*-b", "a-b"));
}

TEST_CASE("a number is written with the digits that were asked for") {
  CHECK(fixed(12.345, 2) == "12.35");
  CHECK(fixed(-0.5, 0) == "-0");
  CHECK(fixed(3, 3) == "3.000");
}

TEST_CASE("case is ignored for ASCII letters only") {
  CHECK(equal_ignoring_case("Content-LENGTH", "content-length"));
  CHECK_FALSE(equal_ignoring_case("content-length", "content-lengthy"));
  CHECK_FALSE(equal_ignoring_case("a[", "a{"));  // differ by the case bit
  CHECK_FALSE(equal_ignoring_case("\xc4", "\xe4"));
  CHECK(lower('Q') == 'q');
  CHECK(lower('@') == '@');
}

TEST_CASE("trim takes blanks and tabs off both ends, nothing else") {
  CHECK(trim(" \t a b \t") == "a b");
  CHECK(trim(" \t ") == "");
  CHECK(trim("") == "");
  CHECK(trim("\ra\n") == "\ra\n");
}

TEST_CASE("only a whole number that fits is a number") {
  int value = 7;
  CHECK(parse_number("-42", value));
  CHECK(value == -42);
  for (const char* bad : {"", " 1", "1 ", "+1", "1x", "0x10", "99999999999", "-"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_number(bad, value));
  }
  uint8_t small = 0;
  CHECK(parse_number("255", small));
  CHECK_FALSE(parse_number("256", small));
  CHECK_FALSE(parse_number("-1", small));
}

TEST_CASE("names are compared without regard to the case of letters, and of letters only") {
  for (size_t size : {1, 7, 8, 9, 15, 16, 17, 24}) {
    for (size_t at = 0; at < size; ++at) {
      std::string a(size, 'x'), b(size, 'X');
      for (int i = 0; i < 256; ++i) {
        for (int j = 0; j < 256; j += 1 + (at > 0 ? 30 : 0)) {
          a[at] = static_cast<char>(i);
          b[at] = static_cast<char>(j);
          const bool equal = lower(a[at]) == lower(b[at]);
          if (equal_ignoring_case(a, b) != equal) FAIL(size, " ", at, " ", i, " ", j);
        }
      }
    }
  }
  CHECK(!equal_ignoring_case("ab", "abc"));
}

}  // namespace
}  // namespace hw
