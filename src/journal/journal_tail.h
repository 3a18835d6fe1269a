// JournalTail: how far a journal has been read, which of its calls are open, and what can be undone
// when the database refuses.
//
// The archiver reads records, writes them in a transaction, and then says accept() or rewind():
//
//   tail.refresh();
//   while (tail.next(entry)) { ... }          // leftovers first; false at their end as well
//   if (tail.at_boundary()) { ...; tail.pass_boundary(); }
//   write tail.begins_to_keep(), tail.oldest(), tail.position();
//   commit ? tail.accept() : tail.rewind();
//
// Belongs to the writer thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "journal/call_codec.h"
#include "journal/journal.h"

namespace hw::journal {

// One record as the archiver sees it.
struct TailEntry {
  RecordType type = RecordType::kBegin;
  std::string_view payload;  // lives until the segment is recycled
  CallKey key;               // of kBegin and kEnd
  bool is_stored = false;    // kEnd: a process before this one has stored it
  bool was_kept = false;     // kEnd, kLost: its begin has a row in open_calls
};

// Where the begin of a call that is still open lies.
struct OpenCall {
  JournalPosition begin;
  bool kept = false;  // in a row of open_calls; `begin` means nothing then
};

class JournalTail {
 public:
  // `stored`: up to where ends are in the database. `kept`: hashes of the ids in open_calls.
  JournalTail(std::unique_ptr<Journal> journal, JournalPosition stored,
              const std::vector<uint64_t>& kept);

  // What it reads.
  Journal& journal() { return *journal_; }
  const Journal& journal() const { return *journal_; }

  // Takes note of the segments that the loop has begun since.
  void refresh();
  // Nothing more will be appended: the segment that is being filled counts as complete.
  void loop_has_ended() { loop_ended_ = true; }
  // Whether there is anything to read or to interrupt.
  bool has_work() const;
  // The next record; false when nothing is left, or at the boundary.
  bool next(TailEntry& out);

  // True between the last record of an earlier process and the first of this one: what is open then
  // was interrupted.
  bool at_boundary() const;
  // The begins that are open, as payloads, without those that are kept in rows.
  std::vector<std::string_view> open_begins() const;
  // Nothing is open any more.
  void pass_boundary();
  bool boundary_passed() const { return boundary_passed_; }

  // Begins that are open and lie in segments that were read through: to be kept in rows of
  // open_calls by the same transaction. To be asked for once, after all reading.
  std::vector<std::string_view> begins_to_keep();

  // For the row in journal_positions.
  uint64_t oldest() const;
  JournalPosition position() const;

  // The transaction is done: what was read stays read, and segments that were read through before
  // it are given back to the loop.
  void accept();
  // The transaction failed: as if nothing had been read.
  void rewind();

  // Ends of this process that have been read and accepted.
  uint64_t ends_accepted() const { return ends_accepted_; }
  size_t open_count() const { return open_.size(); }

 private:
  struct Cursor {
    size_t segment = 0;  // index into segments_
    uint32_t offset = kSegmentHeaderBytes;
  };
  struct Undo {
    uint64_t hash;
    bool was_open;
    OpenCall call;
  };
  using OpenCalls = std::unordered_map<uint64_t, OpenCall>;

  bool is_leftover(size_t segment) const { return segment < leftovers_; }
  bool is_complete(size_t segment) const {
    return is_leftover(segment) || segment + 1 < segments_.size() || loop_ended_;
  }
  uint64_t sequence_at(size_t segment) const;
  bool interpret(const Record& record, const JournalPosition& at, TailEntry& out);
  void remember(uint64_t hash);
  void open(uint64_t hash, const JournalPosition& at);
  bool close(uint64_t hash);
  std::string_view payload_at(const JournalPosition& at) const;

  std::unique_ptr<Journal> journal_;
  const JournalPosition stored_;
  std::deque<Journal::Filled> segments_;  // not recycled yet, in order
  size_t leftovers_ = 0;                  // of segments_, from the front
  uint64_t filled_seen_ = 0;
  Cursor accepted_;  // always in the first segment
  Cursor read_;
  OpenCalls open_;
  std::vector<Undo> undo_;
  std::vector<uint64_t> keeping_;  // hashes that become kept when the transaction is done
  bool boundary_passed_ = false;
  bool loop_ended_ = false;
  std::optional<OpenCalls> open_before_boundary_;  // to undo pass_boundary()
  uint64_t ends_read_ = 0, ends_accepted_ = 0;
};

}  // namespace hw::journal
