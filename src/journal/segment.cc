#include "journal/segment.h"

#include <bit>
#include <cstring>

#include "base/assert.h"
#include "journal/crc32c.h"

static_assert(std::endian::native == std::endian::little,
              "the journal's numbers are little-endian");

namespace hw::journal {
namespace {

constexpr uint64_t kMagic = 0x314d47534c4e4a48;  // "HJNLSGM1"

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

uint32_t record_checksum(uint64_t sequence, const char* body, size_t size) {
  return crc32c(body, size, static_cast<uint32_t>(sequence));
}

}  // namespace

void write_segment_header(char* segment, uint64_t sequence) {
  HW_ASSERT(sequence > 0);
  put(segment, kMagic);
  put(segment + 8, sequence);
  put(segment + 16, crc32c(segment, 16));
  // Ends the records right here until the first one is written.
  put(segment + kSegmentHeaderBytes, uint64_t{0});
}

uint64_t read_segment_header(std::string_view header) {
  if (header.size() < kSegmentHeaderBytes) return 0;
  if (load<uint64_t>(header.data()) != kMagic) return 0;
  if (load<uint32_t>(header.data() + 16) != crc32c(header.data(), 16)) return 0;
  return load<uint64_t>(header.data() + 8);
}

void write_record(char* at, uint64_t sequence, RecordType type, std::string_view payload) {
  char* body = at + kRecordHeaderBytes;
  const size_t size = 1 + payload.size();
  *body = static_cast<char>(type);
  std::memcpy(body + 1, payload.data(), payload.size());
  const uint64_t checksum = record_checksum(sequence, body, size);
  put(at, checksum << 32 | static_cast<uint32_t>(size));
}

bool read_record(std::string_view rest, uint64_t sequence, Trust trust, Record& out) {
  if (rest.size() < kRecordHeaderBytes) return false;
  const auto size = load<uint32_t>(rest.data());
  if (size == 0 || size > rest.size() - kRecordHeaderBytes) return false;
  const char* body = rest.data() + kRecordHeaderBytes;
  if (trust == Trust::kVerify &&
      load<uint32_t>(rest.data() + 4) != record_checksum(sequence, body, size)) {
    return false;
  }
  const auto type = static_cast<uint8_t>(*body);
  if (type < static_cast<uint8_t>(RecordType::kBegin) ||
      type > static_cast<uint8_t>(RecordType::kLost)) {
    return false;
  }
  const size_t bytes = record_bytes(size - 1);
  out.type = static_cast<RecordType>(type);
  out.payload = {body + 1, size - 1};
  out.bytes = static_cast<uint32_t>(bytes < rest.size() ? bytes : rest.size());
  return true;
}

}  // namespace hw::journal
