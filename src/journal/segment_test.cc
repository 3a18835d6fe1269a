#include "journal/segment.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace hw::journal {
namespace {

struct Written {
  RecordType type;
  std::string payload;
};

// The payloads of all records that can be read.
std::vector<std::string> read_all(std::string_view segment, uint64_t sequence, Trust trust) {
  std::vector<std::string> payloads;
  std::string_view rest = segment.substr(kSegmentHeaderBytes);
  Record record;
  while (read_record(rest, sequence, trust, record)) {
    payloads.emplace_back(record.payload);
    rest.remove_prefix(record.bytes);
  }
  return payloads;
}

std::string segment_of(uint64_t sequence, const std::vector<Written>& records, size_t bytes) {
  std::string segment(bytes, '\0');
  write_segment_header(segment.data(), sequence);
  size_t at = kSegmentHeaderBytes;
  for (const Written& record : records) {
    write_record(segment.data() + at, sequence, record.type, record.payload);
    at += record_bytes(record.payload.size());
  }
  return segment;
}

TEST_CASE("records come back in their order, whatever their length") {
  std::vector<Written> records;
  std::vector<std::string> expected;
  for (size_t size = 0; size < 40; ++size) {
    records.push_back({RecordType::kEnd, std::string(size, static_cast<char>('a' + size % 26))});
    expected.push_back(records.back().payload);
  }
  const std::string segment = segment_of(7, records, 4096);
  CHECK(read_segment_header(segment) == 7);
  CHECK(read_all(segment, 7, Trust::kVerify) == expected);
  CHECK(read_all(segment, 7, Trust::kOwn) == expected);
}

TEST_CASE("a fresh use of a segment has none of the records of the use before") {
  std::string segment =
      segment_of(7, {{RecordType::kBegin, "one"}, {RecordType::kEnd, "two"}}, 256);
  write_segment_header(segment.data(), 8);
  CHECK(read_all(segment, 8, Trust::kVerify).empty());
  CHECK(read_all(segment, 8, Trust::kOwn).empty());
  // The first record of the new use does not uncover the second one of the old use.
  write_record(segment.data() + kSegmentHeaderBytes, 8, RecordType::kBegin, "new");
  CHECK(read_all(segment, 8, Trust::kVerify) == std::vector<std::string>{"new"});
}

TEST_CASE("a torn record ends the reading, those before it stay") {
  const std::string whole =
      segment_of(3, {{RecordType::kBegin, "kept"}, {RecordType::kEnd, "torn, torn, torn"}}, 200);
  const size_t second = kSegmentHeaderBytes + record_bytes(4);
  const size_t second_bytes = kRecordHeaderBytes + 1 + 16;
  for (size_t i = 0; i < second_bytes; ++i) {
    CAPTURE(i);
    std::string torn = whole;
    torn[second + i] = static_cast<char>(torn[second + i] ^ 0x40);
    CHECK(read_all(torn, 3, Trust::kVerify) == std::vector<std::string>{"kept"});
    // Cut off there, as if the file ended.
    CHECK(read_all(whole.substr(0, second + i), 3, Trust::kVerify) ==
          std::vector<std::string>{"kept"});
  }
}

TEST_CASE("a damaged or foreign header is none") {
  const std::string segment = segment_of(5, {}, 128);
  for (size_t i = 0; i < 20; ++i) {
    std::string bad = segment;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK(read_segment_header(bad) == 0);
  }
  CHECK(read_segment_header(std::string(128, '\0')) == 0);
  CHECK(read_segment_header("short") == 0);
}

TEST_CASE("any bytes can be read without harm, and end") {
  Random random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<char> bytes(random.below(300));
    for (char& byte : bytes) byte = static_cast<char>(random.below(4) == 0 ? random.next() : 1);
    std::string_view rest(bytes.data(), bytes.size());
    Record record;
    while (read_record(rest, 9, Trust::kOwn, record)) {
      REQUIRE(record.bytes > 0);
      REQUIRE(record.bytes <= rest.size());
      rest.remove_prefix(record.bytes);
    }
  }
}

}  // namespace
}  // namespace hw::journal
