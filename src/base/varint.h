// Variable-length integers (LEB128, as in protobuf): seven bits a byte, lowest first, so that the
// small numbers that records are full of take one or two bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hw {

inline constexpr size_t kVarintBytesMax = 10;  // of a uint64

// Writes `value` at `out`, which has room for kVarintBytesMax bytes; returns the end.
inline char* write_varint(char* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

// The same onto `out`.
inline void append_varint(std::string& out, uint64_t value) {
  char bytes[kVarintBytesMax];
  out.append(bytes, static_cast<size_t>(write_varint(bytes, value) - bytes));
}

// Takes a number off the front of `in`; false where it is cut short or exceeds 64 bits, and `in` is
// then as it was.
inline bool read_varint(std::string_view& in, uint64_t& out) {
  uint64_t value = 0;
  for (size_t i = 0; i < in.size() && i < kVarintBytesMax; ++i) {
    const auto byte = static_cast<uint8_t>(in[i]);
    if (i == kVarintBytesMax - 1 && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      out = value;
      return true;
    }
  }
  return false;
}

// Signed numbers near 0 as small unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3.
inline uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
}

}  // namespace hw
