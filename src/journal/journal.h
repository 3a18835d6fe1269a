// Journal: the file in which one loop keeps its calls until the database has them.
//
// The file is set aside on disk and mapped into memory beforehand; what is copied into a mapping
// survives the death of the process, so appending waits for no disk and takes no lock. It consists
// of segments (segment.h). The loop fills one after the other, taking them from a stack of free
// ones; the writer thread reads them in the same order, stores what is in them and gives them back.
// The segment that was given back last is used next, so that an idle or steady journal touches few
// pages.
//
//   loop            append() → filled segments, in order → writer thread
//   writer thread   recycle() → stack of free segments   → loop
//
// Two threads: append() belongs to the loop, everything else to the writer thread, unless it says
// otherwise. When no segment is free, appending fails: the reserve is used up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/faults.h"
#include "journal/segment.h"

namespace hw::journal {

// How a journal's file is divided.
struct JournalGeometry {
  uint32_t segment_bytes = 256 * 1024;
  uint32_t segments = 128;
  // The share of one of `loops` journals in `journal_bytes`: segments of 16 to 256 KiB, at least 4.
  static JournalGeometry share(uint64_t journal_bytes, int loops);
  friend bool operator==(const JournalGeometry&, const JournalGeometry&) = default;
};

// Which database and loop a journal belongs to; a file of another database is not read.
struct JournalIdentity {
  std::array<uint8_t, 16> store{};
  uint32_t loop = 0;
};

// A place in the stream of records of one loop.
struct JournalPosition {
  uint64_t sequence = 0;  // of the segment
  uint32_t offset = 0;    // in the segment
};

class Journal {
 public:
  // A segment that holds records and in which use it is.
  struct Filled {
    uint32_t slot = 0;  // place in the file
    uint64_t sequence = 0;
  };

  // Opens or makes the file. Segments of earlier processes are in leftover() where their sequence
  // is at least `oldest`; new ones are numbered above `last`, above `oldest` and above all in the
  // file. A file of another geometry is made anew, unless it still holds something: then it stays
  // as it is until the next start. kStore where the file cannot be opened, written or mapped.
  static Result<std::unique_ptr<Journal>> open(const std::string& path,
                                               const JournalIdentity& identity,
                                               const JournalGeometry& geometry, uint64_t oldest,
                                               uint64_t last, FaultSeam* faults);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // --- the loop ---

  // Keeps a record; false where there is no room for it.
  bool append(RecordType type, std::string_view payload);

  // --- the writer thread ---

  // Reserves disk space for the next segment and gives it to the loop. True while there may be more
  // to do; false when all is set aside or the disk refused, see set_aside_error().
  bool set_aside_one();
  bool all_set_aside() const { return next_aside_ == geometry_.segments; }
  // Why the disk refused, as errno; 0: it did not.
  int set_aside_error() const { return set_aside_error_; }

  // What earlier processes left, oldest first.
  const std::vector<Filled>& leftover() const { return leftover_; }
  // How many segments this process has begun to fill, and the i-th of them. Only the latest
  // `segments` of them can be asked for.
  uint64_t filled_count() const { return filled_count_.load(std::memory_order_acquire); }
  Filled filled(uint64_t i) const { return filled_[i % geometry_.segments]; }
  // What can be read of a segment: of this process's own, what is appended by now; of a leftover
  // one, all of it.
  std::string_view bytes(const Filled& filled) const;
  // The segment is stored; it may be filled again.
  void recycle(const Filled& filled);

  // Of its file, and what it was opened with.
  const std::string& path() const { return path_; }
  const JournalGeometry& geometry() const { return geometry_; }
  uint32_t loop() const { return loop_; }
  // Segments of this sequence and above are this process's own.
  uint64_t first_own_sequence() const { return first_own_sequence_; }

  // --- any thread ---

  // Segments that the loop can still take.
  uint32_t free_segments() const { return free_count_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::atomic<uint32_t> used{0};       // bytes that are appended, header included
    std::atomic<uint32_t> next_free{0};  // slot + 1 of the next in the stack of free ones; 0: none
    bool warm = false;                   // the writer thread's: its pages are likely mapped
  };

  Journal(std::string path, JournalGeometry geometry, uint32_t loop, int fd, FaultSeam* faults);
  Status map();
  void find_leftover(uint64_t oldest, uint64_t last);
  char* base(uint32_t slot) const;
  bool rotate();
  void push_free(uint32_t slot);
  bool pop_free(uint32_t& slot);

  const std::string path_;
  const JournalGeometry geometry_;
  const uint32_t loop_;
  const int fd_;
  FaultSeam* const faults_;
  char* mapping_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  uint64_t file_bytes_ = 0;  // when it was opened
  std::unique_ptr<Slot[]> slots_;

  // The loop's.
  char* at_ = nullptr;
  size_t room_ = 0;
  uint32_t slot_ = 0;
  uint64_t sequence_ = 0;  // of the segment being filled; the last one used before the first

  // Handed over.
  std::unique_ptr<Filled[]> filled_;  // a ring, written before filled_count_ is raised
  std::atomic<uint64_t> filled_count_{0};
  std::atomic<uint32_t> free_head_{0};  // slot + 1; 0: none
  std::atomic<uint32_t> free_count_{0};

  // The writer thread's.
  std::vector<Filled> leftover_;
  std::vector<bool> is_leftover_;
  uint64_t first_own_sequence_ = 0;
  uint32_t next_aside_ = 0;
  int set_aside_error_ = 0;
  uint64_t warm_seen_ = 0;  // of filled_count(), for the count of warm free segments
  uint32_t warm_free_ = 0;
};

}  // namespace hw::journal
