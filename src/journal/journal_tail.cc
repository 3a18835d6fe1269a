#include "journal/journal_tail.h"

#include <cstring>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"

namespace hw::journal {
namespace {

bool before(const JournalPosition& a, const JournalPosition& b) {
  return a.sequence != b.sequence ? a.sequence < b.sequence : a.offset < b.offset;
}

}  // namespace

JournalTail::JournalTail(std::unique_ptr<Journal> journal, JournalPosition stored,
                         const std::vector<uint64_t>& kept)
    : journal_(std::move(journal)), stored_(stored) {
  for (const uint64_t hash : kept) open_[hash].kept = true;
  segments_.assign(journal_->leftover().begin(), journal_->leftover().end());
  leftovers_ = segments_.size();
  boundary_passed_ = leftovers_ == 0 && open_.empty();
}

void JournalTail::refresh() {
  for (const uint64_t count = journal_->filled_count(); filled_seen_ < count; ++filled_seen_) {
    segments_.push_back(journal_->filled(filled_seen_));
  }
}

bool JournalTail::has_work() const {
  if (!boundary_passed_) return true;
  if (segments_.empty()) return false;
  return is_complete(0) || accepted_.offset < journal_->bytes(segments_.front()).size();
}

bool JournalTail::next(TailEntry& out) {
  while (read_.segment < segments_.size()) {
    if (!is_leftover(read_.segment) && !boundary_passed_) return false;
    const Journal::Filled& segment = segments_[read_.segment];
    const std::string_view bytes = journal_->bytes(segment);
    const Trust trust = is_leftover(read_.segment) ? Trust::kVerify : Trust::kOwn;
    const size_t offset = std::min<size_t>(read_.offset, bytes.size());
    Record record;
    if (read_record(bytes.substr(offset), segment.sequence, trust, record)) {
      const JournalPosition at{segment.sequence, read_.offset};
      read_.offset += record.bytes;
      if (interpret(record, at, out)) return true;
      continue;  // not readable by this version; said in the log
    }
    if (!is_complete(read_.segment)) return false;
    ++read_.segment;
    read_.offset = kSegmentHeaderBytes;
  }
  return false;
}

// Fills `out` and books the call as open or ended.
bool JournalTail::interpret(const Record& record, const JournalPosition& at, TailEntry& out) {
  out = TailEntry();
  out.type = record.type;
  out.payload = record.payload;
  if (record.type == RecordType::kLost) {
    if (record.payload.size() != out.key.id_bytes.size()) return false;
    std::memcpy(out.key.id_bytes.data(), record.payload.data(), record.payload.size());
  } else if (!peek_call(record.payload, out.key)) {
    log_error("store", concat("A record in ", journal_->path(), " cannot be read and is dropped."));
    return false;
  }
  const uint64_t hash = id_hash(out.key.id_bytes);
  switch (record.type) {
    case RecordType::kBegin:
      open(hash, at);
      return true;
    case RecordType::kEnd:
      out.is_stored = before(at, stored_);
      out.was_kept = close(hash);
      if (at.sequence >= journal_->first_own_sequence()) ++ends_read_;
      return true;
    case RecordType::kLost:
      out.was_kept = close(hash);
      return true;
  }
  return false;
}

void JournalTail::remember(uint64_t hash) {
  const auto found = open_.find(hash);
  undo_.push_back({hash, found != open_.end(), found != open_.end() ? found->second : OpenCall{}});
}

void JournalTail::open(uint64_t hash, const JournalPosition& at) {
  remember(hash);
  open_[hash] = {at, false};
}

// True where the begin is kept in a row.
bool JournalTail::close(uint64_t hash) {
  const auto found = open_.find(hash);
  if (found == open_.end()) return false;
  const bool kept = found->second.kept;
  undo_.push_back({hash, true, found->second});
  open_.erase(found);
  return kept;
}

bool JournalTail::at_boundary() const {
  return !boundary_passed_ && read_.segment >= leftovers_;
}

std::vector<std::string_view> JournalTail::open_begins() const {
  std::vector<std::string_view> begins;
  for (const auto& [hash, call] : open_) {
    if (!call.kept) begins.push_back(payload_at(call.begin));
  }
  return begins;
}

void JournalTail::pass_boundary() {
  HW_ASSERT(at_boundary());
  open_before_boundary_ = std::move(open_);
  open_.clear();
  keeping_.clear();
  boundary_passed_ = true;
}

std::vector<std::string_view> JournalTail::begins_to_keep() {
  std::vector<std::string_view> begins;
  if (read_.segment == 0) return begins;
  const uint64_t first_staying = sequence_at(read_.segment);
  for (const auto& [hash, call] : open_) {
    if (call.kept || call.begin.sequence >= first_staying) continue;
    begins.push_back(payload_at(call.begin));
    keeping_.push_back(hash);
  }
  return begins;
}

std::string_view JournalTail::payload_at(const JournalPosition& at) const {
  for (const Journal::Filled& segment : segments_) {
    if (segment.sequence != at.sequence) continue;
    Record record;
    const std::string_view rest = journal_->bytes(segment).substr(at.offset);
    const bool whole = read_record(rest, at.sequence, Trust::kOwn, record);
    HW_ASSERT(whole);
    return record.payload;
  }
  HW_ASSERT(!"an open call lies in a segment that was given back");
}

uint64_t JournalTail::sequence_at(size_t segment) const {
  if (segment < segments_.size()) return segments_[segment].sequence;
  // Everything is read through; the next segment will have a higher number than any so far.
  const uint64_t next = segments_.empty() ? 0 : segments_.back().sequence + 1;
  return std::max(next, journal_->first_own_sequence());
}

uint64_t JournalTail::oldest() const {
  return sequence_at(read_.segment);
}

JournalPosition JournalTail::position() const {
  return {sequence_at(read_.segment), read_.offset};
}

void JournalTail::accept() {
  for (const uint64_t hash : keeping_) {
    const auto found = open_.find(hash);
    if (found != open_.end()) found->second.kept = true;
  }
  keeping_.clear();
  undo_.clear();
  open_before_boundary_.reset();
  for (; read_.segment > 0; --read_.segment) {
    journal_->recycle(segments_.front());
    segments_.pop_front();
    if (leftovers_ > 0) --leftovers_;
  }
  accepted_ = read_;
  ends_accepted_ = ends_read_;
}

void JournalTail::rewind() {
  if (open_before_boundary_.has_value()) {
    open_ = std::move(*open_before_boundary_);
    open_before_boundary_.reset();
    boundary_passed_ = false;
  }
  for (; !undo_.empty(); undo_.pop_back()) {
    const Undo& undo = undo_.back();
    if (undo.was_open) {
      open_[undo.hash] = undo.call;
    } else {
      open_.erase(undo.hash);
    }
  }
  keeping_.clear();
  read_ = accepted_;
  ends_read_ = ends_accepted_;
}

}  // namespace hw::journal
