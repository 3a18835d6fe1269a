#include "json/utf8.h"

#include <cstdint>

namespace hw::json {
namespace {

// The range that the second byte must lie in narrows for some first bytes (overlong forms,
// surrogates, beyond U+10FFFF).
struct Second {
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
};

Second second_byte_of(uint8_t first) {
  if (first == 0xe0) return {0xa0, 0xbf};
  if (first == 0xed) return {0x80, 0x9f};
  if (first == 0xf0) return {0x90, 0xbf};
  if (first == 0xf4) return {0x80, 0x8f};
  return {};
}

size_t length_of(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

}  // namespace

size_t utf8_sequence_bytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t length = length_of(byte(0));
  if (length < 2) return length;
  if (text.size() < length) return 0;
  const Second second = second_byte_of(byte(0));
  if (byte(1) < second.low || byte(1) > second.high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

size_t valid_utf8_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t bytes = utf8_sequence_bytes(text.substr(at));
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

}  // namespace hw::json
