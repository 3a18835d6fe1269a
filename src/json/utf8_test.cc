#include "json/utf8.h"

#include <doctest/doctest.h>

#include <string>

namespace hw::json {
namespace {

// UTF-8 of any number up to 0x1fffff, well-formed or not.
std::string encode(uint32_t point, int bytes) {
  if (bytes == 1) return std::string(1, static_cast<char>(point));
  std::string out(bytes, '\0');
  for (int i = bytes - 1; i > 0; --i) {
    out[i] = static_cast<char>(0x80 | (point & 0x3f));
    point >>= 6;
  }
  constexpr int kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out[0] = static_cast<char>(kLead[bytes] | point);
  return out;
}

TEST_CASE("exactly the shortest forms of scalar values are sequences") {
  constexpr uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
  constexpr uint32_t kBeyond[] = {0, 0x80, 0x800, 0x10000, 0x200000};
  for (int bytes = 1; bytes <= 4; ++bytes) {
    for (uint32_t point = 0; point < kBeyond[bytes]; point += bytes < 3 ? 1 : 0x3f) {
      const bool fine =
          point >= kFirst[bytes] && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
      const std::string text = encode(point, bytes);
      REQUIRE_MESSAGE(utf8_sequence_bytes(text) == (fine ? text.size() : 0), point);
      if (bytes > 1) REQUIRE(utf8_sequence_bytes(text.substr(0, text.size() - 1)) == 0);
    }
  }
}

TEST_CASE("the valid prefix ends where the first bad byte stands") {
  CHECK(valid_utf8_prefix("") == 0);
  CHECK(valid_utf8_prefix("aé🦀") == 7);
  CHECK(valid_utf8_prefix("aé\x80z") == 3);
  CHECK(valid_utf8_prefix("a\xf0\x9f\xa6") == 1);
}

}  // namespace
}  // namespace hw::json
