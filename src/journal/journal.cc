#include "journal/journal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"
#include "journal/crc32c.h"

namespace hw::journal {
namespace {

constexpr uint64_t kFileMagic = 0x31304c4e524a5748;  // "HWJRNL01"
constexpr uint64_t kFileHeaderBytes = 4096;          // one page, so that segments begin on one
constexpr uint32_t kSegmentBytesMin = 16 * 1024;
constexpr uint32_t kSegmentBytesMax = 256 * 1024;
constexpr uint32_t kSegmentsMin = 4;
constexpr uint32_t kSegmentsMax = 1u << 16;
// Free segments whose pages stay mapped: enough for a busy loop between two polls of the writer.
constexpr uint32_t kWarmSegments = 4;

// The first page of the file.
struct FileHeader {
  uint64_t magic = kFileMagic;
  std::array<uint8_t, 16> store{};
  uint32_t loop = 0;
  uint32_t segment_bytes = 0;
  uint32_t segments = 0;
  uint32_t checksum = 0;  // of all before it
};
static_assert(sizeof(FileHeader) == 40);

uint32_t checksum_of(const FileHeader& header) {
  return crc32c(&header, offsetof(FileHeader, checksum));
}

tl::unexpected<Error> io_failure(std::string_view what, const std::string& path) {
  const int reason = errno;
  return fail(ErrorCode::kStore, concat("The journal ", path, " cannot be ", what, ": ",
                                        std::string_view(std::strerror(reason)), "."));
}

// False where the file has no header of ours.
bool read_header(int fd, FileHeader& out) {
  if (pread(fd, &out, sizeof out, 0) != static_cast<ssize_t>(sizeof out)) return false;
  if (out.magic != kFileMagic || out.checksum != checksum_of(out)) return false;
  return out.segment_bytes >= kSegmentBytesMin && out.segment_bytes <= kSegmentBytesMax &&
         out.segment_bytes % 4096 == 0 && out.segments >= 1 && out.segments <= kSegmentsMax;
}

Status write_header(int fd, const std::string& path, const JournalIdentity& identity,
                    const JournalGeometry& geometry) {
  if (ftruncate(fd, 0) != 0) return io_failure("emptied", path);
  FileHeader header;
  header.store = identity.store;
  header.loop = identity.loop;
  header.segment_bytes = geometry.segment_bytes;
  header.segments = geometry.segments;
  header.checksum = checksum_of(header);
  std::array<char, kFileHeaderBytes> page{};
  std::memcpy(page.data(), &header, sizeof header);
  const ssize_t written = pwrite(fd, page.data(), page.size(), 0);
  if (written != static_cast<ssize_t>(page.size())) return io_failure("written", path);
  return {};
}

// Whether any segment is in a use of at least `oldest`.
bool holds_records(int fd, const FileHeader& header, uint64_t oldest) {
  for (uint32_t slot = 0; slot < header.segments; ++slot) {
    char bytes[kSegmentHeaderBytes];
    const auto offset = static_cast<off_t>(kFileHeaderBytes) +
                        static_cast<off_t>(slot) * static_cast<off_t>(header.segment_bytes);
    if (pread(fd, bytes, sizeof bytes, offset) != static_cast<ssize_t>(sizeof bytes)) return false;
    const uint64_t sequence = read_segment_header({bytes, sizeof bytes});
    if (sequence > 0 && sequence >= oldest) return true;
  }
  return false;
}

// Makes the file fit identity and geometry, or keeps its own geometry where it must be read first.
Result<JournalGeometry> settle_file(int fd, const std::string& path,
                                    const JournalIdentity& identity, const JournalGeometry& wanted,
                                    uint64_t oldest) {
  FileHeader header;
  if (!read_header(fd, header)) {
    if (Status made = write_header(fd, path, identity, wanted); !made) return fail(made.error());
    return wanted;
  }
  const JournalGeometry present{header.segment_bytes, header.segments};
  const bool ours = header.store == identity.store;
  if (!ours) {
    log_warning("store", concat("The journal ", path,
                                " belongs to another database; what is left in "
                                "it is dropped."));
  }
  if (ours && present == wanted) return present;
  if (ours && holds_records(fd, header, oldest)) {
    log_info("store", concat("The journal ", path, " keeps its size until the next start."));
    return present;
  }
  if (Status made = write_header(fd, path, identity, wanted); !made) return fail(made.error());
  return wanted;
}

}  // namespace

JournalGeometry JournalGeometry::share(uint64_t journal_bytes, int loops) {
  HW_ASSERT(loops > 0);
  const uint64_t share = journal_bytes / static_cast<uint64_t>(loops);
  JournalGeometry geometry;
  const uint64_t bytes = std::clamp<uint64_t>(share / 8, kSegmentBytesMin, kSegmentBytesMax);
  geometry.segment_bytes = static_cast<uint32_t>(bytes / 4096 * 4096);
  geometry.segments = static_cast<uint32_t>(
      std::clamp<uint64_t>(share / geometry.segment_bytes, kSegmentsMin, kSegmentsMax));
  return geometry;
}

Journal::Journal(std::string path, JournalGeometry geometry, uint32_t loop, int fd,
                 FaultSeam* faults)
    : path_(std::move(path)),
      geometry_(geometry),
      loop_(loop),
      fd_(fd),
      faults_(faults),
      slots_(std::make_unique<Slot[]>(geometry.segments)),
      filled_(std::make_unique<Filled[]>(geometry.segments)),
      is_leftover_(geometry.segments, false) {}

Journal::~Journal() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
  close(fd_);
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path,
                                               const JournalIdentity& identity,
                                               const JournalGeometry& geometry, uint64_t oldest,
                                               uint64_t last, FaultSeam* faults) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return io_failure("opened", path);
  Result<JournalGeometry> settled = settle_file(fd, path, identity, geometry, oldest);
  if (!settled) {
    close(fd);
    return fail(settled.error());
  }
  std::unique_ptr<Journal> journal(new Journal(path, *settled, identity.loop, fd, faults));
  if (Status mapped = journal->map(); !mapped) return fail(mapped.error());
  journal->find_leftover(oldest, last);
  return journal;
}

Status Journal::map() {
  struct stat info;
  if (fstat(fd_, &info) != 0) return io_failure("examined", path_);
  file_bytes_ = static_cast<uint64_t>(info.st_size);
  mapped_bytes_ =
      kFileHeaderBytes + uint64_t{geometry_.segments} * uint64_t{geometry_.segment_bytes};
  void* mapped =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (mapped == MAP_FAILED) return io_failure("mapped", path_);
  mapping_ = static_cast<char*>(mapped);
  return {};
}

void Journal::find_leftover(uint64_t oldest, uint64_t last) {
  sequence_ = std::max(last, oldest);
  for (uint32_t slot = 0; slot < geometry_.segments; ++slot) {
    const uint64_t end =
        kFileHeaderBytes + (uint64_t{slot} + 1) * uint64_t{geometry_.segment_bytes};
    if (end > file_bytes_) break;  // never set aside; touching it would be fatal
    char header[kSegmentHeaderBytes];
    const auto offset = static_cast<off_t>(end - geometry_.segment_bytes);
    if (pread(fd_, header, sizeof header, offset) != static_cast<ssize_t>(sizeof header)) break;
    const uint64_t sequence = read_segment_header({header, sizeof header});
    sequence_ = std::max(sequence_, sequence);
    if (sequence == 0 || sequence < oldest) continue;
    leftover_.push_back({slot, sequence});
    is_leftover_[slot] = true;
  }
  std::sort(leftover_.begin(), leftover_.end(),
            [](const Filled& a, const Filled& b) { return a.sequence < b.sequence; });
  first_own_sequence_ = sequence_ + 1;
}

char* Journal::base(uint32_t slot) const {
  HW_ASSERT(slot < geometry_.segments);
  return mapping_ + kFileHeaderBytes + uint64_t{slot} * uint64_t{geometry_.segment_bytes};
}

bool Journal::append(RecordType type, std::string_view payload) {
  if (fails(faults_, FaultPoint::kAppend)) return false;
  const size_t bytes = record_bytes(payload.size());
  if (bytes > geometry_.segment_bytes - kSegmentHeaderBytes) return false;
  if (bytes > room_ && !rotate()) return false;
  write_record(at_, sequence_, type, payload);
  at_ += bytes;
  room_ -= bytes;
  const auto used = static_cast<uint32_t>(at_ - base(slot_));
  slots_[slot_].used.store(used, std::memory_order_release);
  return true;
}

// Goes on in a free segment.
bool Journal::rotate() {
  uint32_t slot = 0;
  if (fails(faults_, FaultPoint::kRotate) || !pop_free(slot)) return false;
  slot_ = slot;
  ++sequence_;
  write_segment_header(base(slot), sequence_);
  at_ = base(slot) + kSegmentHeaderBytes;
  room_ = geometry_.segment_bytes - kSegmentHeaderBytes;
  slots_[slot].used.store(kSegmentHeaderBytes, std::memory_order_relaxed);
  const uint64_t count = filled_count_.load(std::memory_order_relaxed);
  filled_[count % geometry_.segments] = {slot, sequence_};
  filled_count_.store(count + 1, std::memory_order_release);
  return true;
}

bool Journal::set_aside_one() {
  if (all_set_aside()) return false;
  const uint32_t slot = next_aside_;
  if (!is_leftover_[slot]) {
    const auto offset = static_cast<off_t>(base(slot) - mapping_);
    const bool refused = fails(faults_, FaultPoint::kSetAside);
    set_aside_error_ = refused ? ENOSPC : posix_fallocate(fd_, offset, geometry_.segment_bytes);
    if (set_aside_error_ != 0) return false;
    push_free(slot);
  }
  ++next_aside_;
  return !all_set_aside();
}

std::string_view Journal::bytes(const Filled& filled) const {
  const bool own = filled.sequence >= first_own_sequence_;
  const size_t size =
      own ? slots_[filled.slot].used.load(std::memory_order_acquire) : geometry_.segment_bytes;
  return {base(filled.slot), size};
}

void Journal::recycle(const Filled& filled) {
  if (faults_ != nullptr) faults_->fails(FaultPoint::kRecycle);
  for (const uint64_t count = filled_count(); warm_seen_ < count; ++warm_seen_) {
    Slot& taken = slots_[this->filled(warm_seen_).slot];
    if (taken.warm) --warm_free_;
    taken.warm = false;
  }
  Slot& slot = slots_[filled.slot];
  slot.warm = warm_free_ < kWarmSegments;
  if (slot.warm) {
    ++warm_free_;
  } else {
    // Drops the pages from this process's memory; the page cache keeps them.
    madvise(base(filled.slot), geometry_.segment_bytes, MADV_DONTNEED);
  }
  push_free(filled.slot);
}

// A stack with one thread that pushes (the writer) and one that pops (the loop). The popping thread
// cannot see a head leave and come back behind its back, since nobody else pops.
void Journal::push_free(uint32_t slot) {
  uint32_t head = free_head_.load(std::memory_order_relaxed);
  do {
    slots_[slot].next_free.store(head, std::memory_order_relaxed);
  } while (!free_head_.compare_exchange_weak(head, slot + 1, std::memory_order_release,
                                             std::memory_order_relaxed));
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

bool Journal::pop_free(uint32_t& slot) {
  uint32_t head = free_head_.load(std::memory_order_acquire);
  while (head != 0) {
    const uint32_t next = slots_[head - 1].next_free.load(std::memory_order_relaxed);
    if (free_head_.compare_exchange_weak(head, next, std::memory_order_acquire,
                                         std::memory_order_acquire)) {
      slot = head - 1;
      free_count_.fetch_sub(1, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace hw::journal
