#include "journal/journal.h"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "base/temp_folder.h"
#include "base/text.h"

namespace hw::journal {
namespace {

constexpr JournalGeometry kSmall{16 * 1024, 4};

std::unique_ptr<Journal> opened(const std::string& path, uint64_t oldest = 0, uint64_t last = 0,
                                const JournalGeometry& geometry = kSmall,
                                const JournalIdentity& identity = {}) {
  auto journal = Journal::open(path, identity, geometry, oldest, last, nullptr);
  REQUIRE(journal.has_value());
  while ((*journal)->set_aside_one()) {
  }
  return std::move(*journal);
}

std::vector<std::string> payloads(const Journal& journal, const Journal::Filled& segment,
                                  Trust trust) {
  std::vector<std::string> found;
  std::string_view rest = journal.bytes(segment).substr(kSegmentHeaderBytes);
  Record record;
  while (read_record(rest, segment.sequence, trust, record)) {
    found.emplace_back(record.payload);
    rest.remove_prefix(record.bytes);
  }
  return found;
}

TEST_CASE("the share of a loop has segments that are neither tiny nor huge") {
  const JournalGeometry usual = JournalGeometry::share(64 << 20, 2);
  CHECK(usual.segment_bytes == 256 * 1024);
  CHECK(usual.segments == 128);
  const JournalGeometry little = JournalGeometry::share(0, 64);
  CHECK(little.segment_bytes == 16 * 1024);
  CHECK(little.segments == 4);
  for (uint64_t bytes = 1; bytes < 1'000'000'000'000; bytes = bytes * 7 + 1) {
    const JournalGeometry geometry = JournalGeometry::share(bytes, 3);
    CHECK(geometry.segment_bytes % 4096 == 0);
    CHECK(geometry.segment_bytes >= 16 * 1024);
    CHECK(geometry.segment_bytes <= 256 * 1024);
  }
}

TEST_CASE("records fill segment after segment, until the reserve is used up") {
  const TempFolder folder;
  const auto journal = opened(folder.file("j"));
  const std::string payload(1'000, 'x');
  int appended = 0;
  while (journal->append(RecordType::kEnd, payload)) ++appended;
  // 16 records of 1,016 bytes fit into 16 KiB less its header.
  CHECK(appended == 4 * 16);
  CHECK(journal->filled_count() == 4);
  CHECK(journal->free_segments() == 0);
  CHECK_FALSE(journal->append(RecordType::kEnd, payload));
  // A small one still fits into the last segment? It does not: what is left is 64 bytes.
  CHECK(journal->append(RecordType::kEnd, "y"));

  const Journal::Filled first = journal->filled(0);
  CHECK(payloads(*journal, first, Trust::kVerify).size() == 16);
  journal->recycle(first);
  CHECK(journal->free_segments() == 1);
  CHECK(journal->append(RecordType::kEnd, payload));
  CHECK(journal->filled_count() == 5);
  CHECK(journal->filled(4).slot == first.slot);
  CHECK(journal->filled(4).sequence > journal->filled(3).sequence);
}

TEST_CASE("a record larger than a segment is refused, the next one is not") {
  const TempFolder folder;
  const auto journal = opened(folder.file("j"));
  CHECK_FALSE(journal->append(RecordType::kEnd, std::string(16 * 1024, 'x')));
  CHECK(journal->append(RecordType::kEnd, "y"));
}

TEST_CASE("what was appended is there after the journal is gone, numbers go on") {
  const TempFolder folder;
  uint64_t last = 0;
  {
    const auto journal = opened(folder.file("j"));
    for (int i = 0; i < 40; ++i) {
      REQUIRE(journal->append(RecordType::kBegin, concat("record ", i, std::string(900, '.'))));
    }
    last = journal->filled(journal->filled_count() - 1).sequence;
  }
  const auto journal = opened(folder.file("j"));
  REQUIRE(journal->leftover().size() == 3);
  int count = 0;
  uint64_t before = 0;
  for (const Journal::Filled& segment : journal->leftover()) {
    CHECK(segment.sequence > before);
    before = segment.sequence;
    for (const std::string& payload : payloads(*journal, segment, Trust::kVerify)) {
      CHECK(payload.starts_with(concat("record ", count++, ".")));
    }
  }
  CHECK(count == 40);
  CHECK(journal->first_own_sequence() == last + 1);
  CHECK(journal->free_segments() == 1);  // leftovers are not written over
  REQUIRE(journal->append(RecordType::kBegin, "new"));
  CHECK(journal->filled(0).sequence == last + 1);
}

TEST_CASE("segments older than the database needs are free") {
  const TempFolder folder;
  {
    opened(folder.file("j"))->append(RecordType::kBegin, "stored long ago");
  }
  const auto journal = opened(folder.file("j"), 100, 90);
  CHECK(journal->leftover().empty());
  CHECK(journal->first_own_sequence() == 101);
  CHECK(journal->free_segments() == 4);
}

TEST_CASE("a file of another size is made anew once nothing is left in it") {
  const TempFolder folder;
  {
    opened(folder.file("j"))->append(RecordType::kBegin, "left");
  }
  constexpr JournalGeometry kOther{32 * 1024, 6};
  {
    const auto journal = opened(folder.file("j"), 0, 0, kOther);
    CHECK(journal->geometry() == kSmall);
    CHECK(journal->leftover().size() == 1);
  }
  const auto journal = opened(folder.file("j"), 50, 50, kOther);
  CHECK(journal->geometry() == kOther);
  CHECK(journal->leftover().empty());
  CHECK(journal->free_segments() == 6);
}

TEST_CASE("the journal of another database is not read") {
  const TempFolder folder;
  JournalIdentity other;
  other.store[0] = 1;
  {
    opened(folder.file("j"))->append(RecordType::kBegin, "theirs");
  }
  CHECK(opened(folder.file("j"), 0, 0, kSmall, other)->leftover().empty());
}

TEST_CASE("a file that is no journal, cut or damaged does no harm") {
  const TempFolder folder;
  std::ofstream(folder.file("text")) << "hello";
  CHECK(opened(folder.file("text"))->leftover().empty());
  {
    const auto journal = opened(folder.file("j"));
    for (int i = 0; i < 30; ++i) {
      REQUIRE(journal->append(RecordType::kBegin, std::string(1'000, 'x')));
    }
  }
  const auto size = std::filesystem::file_size(folder.file("j"));
  for (const auto bytes : {size - 1, size / 2, size / 4, uintmax_t{5'000}, uintmax_t{4'096},
                           uintmax_t{100}, uintmax_t{0}}) {
    std::filesystem::copy_file(folder.file("j"), folder.file("cut"),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder.file("cut"), bytes);
    const auto journal = opened(folder.file("cut"));
    CHECK(journal->leftover().size() <= 2);
    CHECK(journal->append(RecordType::kBegin, "on it goes"));
  }
}

TEST_CASE("a folder that is not there is an error that names the file") {
  const auto journal = Journal::open("/nonexistent/j", {}, kSmall, 0, 0, nullptr);
  REQUIRE_FALSE(journal.has_value());
  CHECK(journal.error().code == ErrorCode::kStore);
  CHECK(journal.error().message.find("/nonexistent/j") != std::string::npos);
}

class RefuseSetAside final : public FaultSeam {
 public:
  bool fails(FaultPoint point) override { return point == FaultPoint::kSetAside && refuse; }
  bool refuse = true;
};

TEST_CASE("a full disk sets nothing aside, appending fails, and it is tried again") {
  const TempFolder folder;
  RefuseSetAside seam;
  const auto journal = Journal::open(folder.file("j"), {}, kSmall, 0, 0, &seam);
  REQUIRE(journal.has_value());
  CHECK_FALSE((*journal)->set_aside_one());
  CHECK((*journal)->set_aside_error() == ENOSPC);
  CHECK_FALSE((*journal)->append(RecordType::kEnd, "x"));
  seam.refuse = false;
  CHECK((*journal)->set_aside_one());
  CHECK((*journal)->set_aside_error() == 0);
  CHECK((*journal)->append(RecordType::kEnd, "x"));
}

TEST_CASE("one thread appends while another reads and gives back: every record once, in order") {
  const TempFolder folder;
  const auto journal = opened(folder.file("j"));
  constexpr uint64_t kRecords = 20'000;
  std::atomic<bool> done{false};
  std::thread loop([&] {
    Random random(1);
    for (uint64_t i = 0; i < kRecords;) {
      const std::string payload = concat(i, ",", std::string(random.below(200), '.'));
      if (journal->append(RecordType::kEnd, payload)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
    done = true;
  });
  uint64_t expected = 0, segment = 0;
  size_t offset = kSegmentHeaderBytes;
  while (expected < kRecords) {
    const uint64_t filled = journal->filled_count();
    if (segment == filled) continue;
    const Journal::Filled current = journal->filled(segment);
    const std::string_view bytes = journal->bytes(current);
    Record record;
    while (offset < bytes.size() &&
           read_record(bytes.substr(offset), current.sequence, Trust::kVerify, record)) {
      uint64_t number = 0;
      const std::string_view digits = record.payload.substr(0, record.payload.find(','));
      REQUIRE(parse_number(digits, number));
      REQUIRE(number == expected);
      ++expected;
      offset += record.bytes;
    }
    if (segment + 1 < filled && offset >= journal->bytes(current).size()) {
      journal->recycle(current);
      ++segment;
      offset = kSegmentHeaderBytes;
    }
  }
  loop.join();
  CHECK(done.load());
}

}  // namespace
}  // namespace hw::journal
