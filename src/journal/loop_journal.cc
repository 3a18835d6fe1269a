#include "journal/loop_journal.h"

#include "journal/call_codec.h"

namespace hw::journal {
namespace {

constexpr size_t kUntoldMax = 65'536;  // 2 MiB; more than that come back as interrupted

void raise(std::atomic<uint64_t>& count) {
  // Only the loop writes it.
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

LoopJournal::LoopJournal(Journal& journal, Counter lost_metric, std::function<void()> filled)
    : journal_(journal),
      lost_metric_(lost_metric),
      filled_(std::move(filled)),
      buffer_(new char[kCallBytesMax]) {}

void LoopJournal::begin(const timeline::Call& call) {
  if (!untold_.empty()) tell_lost();
  // Without room the call is merely not marked should the process die: its end may find room again.
  append(RecordType::kBegin, encode_call(call, {buffer_.get(), kCallBytesMax}));
}

void LoopJournal::end(const timeline::Call& call) {
  if (!untold_.empty()) tell_lost();
  if (append(RecordType::kEnd, encode_call(call, {buffer_.get(), kCallBytesMax}))) {
    raise(ended_);
  } else {
    note_lost(call.id);
  }
}

void LoopJournal::close() {
  tell_lost();
}

bool LoopJournal::append(RecordType type, std::string_view payload) {
  if (!journal_.append(type, payload)) return false;
  const uint64_t segments = journal_.filled_count();
  if (segments != segments_) {
    // The first segment tells nobody: nothing is full yet, and the writer polls by itself.
    if (segments_ > 0) filled_();
    segments_ = segments;
  }
  return true;
}

void LoopJournal::note_lost(const RequestId& id) {
  raise(lost_);
  lost_metric_.add();
  if (untold_.size() < kUntoldMax) untold_.push_back(id);
}

void LoopJournal::tell_lost() {
  while (!untold_.empty()) {
    const auto id = untold_.back().bytes();
    const std::string_view payload(reinterpret_cast<const char*>(id.data()), id.size());
    if (!append(RecordType::kLost, payload)) return;
    untold_.pop_back();
  }
}

}  // namespace hw::journal
