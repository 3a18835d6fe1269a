#include "base/base64.h"

#include <array>
#include <cstdint>

namespace hw {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<int8_t, 256> kValues = [] {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}();

}  // namespace

void append_base64url(std::string& out, std::string_view bytes) {
  uint32_t held = 0;
  int bits = 0;
  for (const char c : bytes) {
    held = held << 8 | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) out += kAlphabet[held >> (bits - 6) & 63];
  }
  if (bits > 0) out += kAlphabet[held << (6 - bits) & 63];
}

bool decode_base64url(std::string_view text, std::string& out) {
  if (text.size() % 4 == 1) return false;
  const size_t begin = out.size();
  uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return out.resize(begin), false;
    held = held << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(held >> bits & 255);
    }
  }
  // The bits left over are zero in what append_base64url() writes.
  if ((held & ((1u << bits) - 1)) != 0) return out.resize(begin), false;
  return true;
}

}  // namespace hw
