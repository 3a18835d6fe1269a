// CRC-32C (Castagnoli, RFC 3720 appendix B.4): tells a whole journal record from a torn one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hw::journal {

// The checksum of `size` bytes, continuing from `before` (0 for a start), so that
// crc32c(ab) == crc32c(b, crc32c(a)). Uses the processor's instruction where there is one.
uint32_t crc32c(const void* bytes, size_t size, uint32_t before = 0);

// The same without the instruction; for machines that lack it, and to test against.
uint32_t crc32c_portable(const void* bytes, size_t size, uint32_t before = 0);

}  // namespace hw::journal
