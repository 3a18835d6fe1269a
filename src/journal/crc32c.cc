#include "journal/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace hw::journal {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected 0x1edc6f41

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
    table[i] = value;
  }
  return table;
}();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t with_instruction(const void* bytes, size_t size,
                                                            uint32_t before) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint64_t crc = ~before;
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto short_crc = static_cast<uint32_t>(crc);
  for (; size > 0; ++at, --size) short_crc = _mm_crc32_u8(short_crc, *at);
  return ~short_crc;
}

bool have_instruction() {
  static const bool present = __builtin_cpu_supports("sse4.2");
  return present;
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
uint32_t with_instruction(const void* bytes, size_t size, uint32_t before) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint32_t crc = ~before;
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    crc = __crc32cd(crc, word);
  }
  for (; size > 0; ++at, --size) crc = __crc32cb(crc, *at);
  return ~crc;
}

constexpr bool have_instruction() {
  return true;
}
#endif

}  // namespace

uint32_t crc32c_portable(const void* bytes, size_t size, uint32_t before) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint32_t crc = ~before;
  for (size_t i = 0; i < size; ++i) crc = kTable[(crc ^ at[i]) & 0xff] ^ crc >> 8;
  return ~crc;
}

uint32_t crc32c(const void* bytes, size_t size, uint32_t before) {
#if defined(__x86_64__) || (defined(__aarch64__) && defined(__ARM_FEATURE_CRC32))
  if (have_instruction()) return with_instruction(bytes, size, before);
#endif
  return crc32c_portable(bytes, size, before);
}

}  // namespace hw::journal
