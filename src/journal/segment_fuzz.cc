// Any bytes as a segment that a dead process left: reading ends, stays inside, and what passes the
// checksum is a record that could have been written.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "journal/segment.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw::journal;
  const std::string_view segment(reinterpret_cast<const char*>(data), size);
  const uint64_t sequence = read_segment_header(segment);
  for (const Trust trust : {Trust::kVerify, Trust::kOwn}) {
    std::string_view rest = segment.substr(std::min(size, kSegmentHeaderBytes));
    Record record;
    while (read_record(rest, sequence, trust, record)) {
      if (record.bytes == 0 || record.bytes > rest.size()) std::abort();
      if (trust == Trust::kVerify) {
        std::string again(record_bytes(record.payload.size()), '\0');
        write_record(again.data(), sequence, record.type, record.payload);
        const size_t used = kRecordHeaderBytes + 1 + record.payload.size();
        if (rest.substr(0, used) != std::string_view(again).substr(0, used)) std::abort();
      }
      rest.remove_prefix(record.bytes);
    }
  }
  return 0;
}
