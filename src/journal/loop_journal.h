// LoopJournal: what a loop does with a call: encodes its begin and its end into the loop's journal.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/metrics.h"
#include "journal/journal.h"
#include "timeline/call.h"

namespace hw::journal {

// Used by one loop; counts may be read from any thread.
class LoopJournal {
 public:
  // `journal` and `lost_metric` outlive this. `filled` is called, on the loop, when a segment
  // is full, so that the writer thread reads it soon; it must not block.
  LoopJournal(Journal& journal, Counter lost_metric, std::function<void()> filled);

  // The call is about to go to an upstream, for the first time.
  void begin(const timeline::Call& call);
  // The call is over.
  void end(const timeline::Call& call);

  // Nothing more will come: tells the journal what is untold.
  void close();

  // Calls whose end was appended, and those whose end found no room.
  uint64_t ended() const { return ended_.load(std::memory_order_relaxed); }
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  bool append(RecordType type, std::string_view payload);
  void note_lost(const RequestId& id);
  void tell_lost();  // as far as there is room

  Journal& journal_;
  const Counter lost_metric_;
  const std::function<void()> filled_;
  const std::unique_ptr<char[]> buffer_;  // one encoded call
  uint64_t segments_ = 0;                 // that were begun when filled_ was last called
  // Calls whose begin may be in the journal and whose end is not: told to the journal as soon as
  // there is room, so that they do not come back as `interrupted`.
  std::vector<RequestId> untold_;
  std::atomic<uint64_t> ended_{0};
  std::atomic<uint64_t> lost_{0};
};

}  // namespace hw::journal
