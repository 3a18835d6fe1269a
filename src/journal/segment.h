// The bytes of one journal segment: a header and records one after the other, each with a checksum.
//
// Numbers are little-endian. A segment is used again and again; its sequence number goes into every
// checksum, so that what an earlier use left behind is no record of this one.
//
//   header   magic u64, sequence u64, checksum u32, padding to kSegmentHeaderBytes
//   record   size u32, checksum u32, type u8, payload; padded to a multiple of 8. `size` counts
//   type
//            and payload and is never 0, which is what ends the records of a fresh segment.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hw::journal {

// What a record says. Part of the format.
enum class RecordType : uint8_t {
  kBegin = 1,  // payload: encode_call() of what is known when the first attempt starts
  kEnd = 2,    // payload: encode_call() of the whole call
  kLost = 3,   // payload: the 16 bytes of the id of a call whose end found no room
};

// Of the layout above.
inline constexpr size_t kSegmentHeaderBytes = 64;
inline constexpr size_t kRecordHeaderBytes = 8;

// Bytes that a record with this payload takes in a segment.
constexpr size_t record_bytes(size_t payload) {
  return (kRecordHeaderBytes + 1 + payload + 7) / 8 * 8;
}

// Writes the header of a use of the segment; `sequence` must be above 0.
void write_segment_header(char* segment, uint64_t sequence);
// The sequence number in the first kSegmentHeaderBytes of a segment; 0 where there is none.
uint64_t read_segment_header(std::string_view header);

// Writes a record at `at`, which has room for record_bytes(payload.size()) bytes. Its head, which
// makes it one, is written last.
void write_record(char* at, uint64_t sequence, RecordType type, std::string_view payload);

// One record, as read_record() found it.
struct Record {
  RecordType type = RecordType::kBegin;
  std::string_view payload;
  uint32_t bytes = 0;  // in the segment, to step to the next one
};

// Whether checksums are looked at: needed for what a dead process left, not for what this one
// wrote.
enum class Trust : uint8_t { kOwn, kVerify };

// The record at the front of `rest`, the unread part of a segment of this sequence. False at the
// end of the records: nothing there, torn, of an earlier use, or of an unknown type.
bool read_record(std::string_view rest, uint64_t sequence, Trust trust, Record& out);

}  // namespace hw::journal
