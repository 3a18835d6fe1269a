#include "journal/journal_tail.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/temp_folder.h"
#include "journal/call_samples.h"
#include "journal/loop_journal.h"

namespace hw::journal {
namespace {

constexpr JournalGeometry kSmall{16 * 1024, 6};

std::unique_ptr<Journal> opened(const TempFolder& folder, uint64_t oldest = 0) {
  auto journal = Journal::open(folder.file("j"), {}, kSmall, oldest, oldest, nullptr);
  REQUIRE(journal.has_value());
  while ((*journal)->set_aside_one()) {
  }
  return std::move(*journal);
}

std::string id_of(const TailEntry& entry) {
  return std::string(entry.key.id().view());
}

struct Seen {
  std::vector<std::string> ends, begins;
};

// Reads what is there, passing the boundary.
Seen read_all(JournalTail& tail) {
  Seen seen;
  TailEntry entry;
  for (;;) {
    while (tail.next(entry)) {
      if (entry.type == RecordType::kEnd) seen.ends.push_back(id_of(entry));
      if (entry.type == RecordType::kBegin) seen.begins.push_back(id_of(entry));
    }
    if (!tail.at_boundary()) return seen;
    tail.pass_boundary();
  }
}

TEST_CASE("what a refused transaction has read is read again, what an accepted one has is not") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const TempFolder folder;
    JournalTail tail(opened(folder), {}, {});
    LoopJournal loop(tail.journal(), Counter(), [] {});
    std::vector<timeline::Call> open;
    std::vector<std::string> ended, read;
    for (int round = 0; round < 60; ++round) {
      for (uint64_t left = random.below(20); left > 0; --left) {
        open.push_back(typical_call(random, kSampleWall, 4));
        loop.begin(begun_call(open.back()));
        if (random.below(5) == 0) continue;  // stays open for now
        const size_t chosen = random.below(open.size());
        ended.emplace_back(open[chosen].id.view());
        loop.end(open[chosen]);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
      REQUIRE(loop.lost() == 0);
      tail.refresh();
      const uint64_t accepted = tail.ends_accepted();
      const Seen seen = read_all(tail);
      static_cast<void>(tail.begins_to_keep());
      if (random.below(3) == 0) {
        tail.rewind();
        CHECK(tail.ends_accepted() == accepted);
        // The very same comes again.
        const Seen again = read_all(tail);
        CHECK(again.ends == seen.ends);
        CHECK(again.begins == seen.begins);
        static_cast<void>(tail.begins_to_keep());
      }
      read.insert(read.end(), seen.ends.begin(), seen.ends.end());
      tail.accept();
      CHECK(tail.open_count() == open.size());
      CHECK_FALSE(tail.has_work());
    }
    CHECK(read == ended);
    CHECK(tail.ends_accepted() == ended.size());
  }
}

TEST_CASE("begins of segments that are given back are kept once, and told when they end") {
  const TempFolder folder;
  JournalTail tail(opened(folder), {}, {});
  LoopJournal loop(tail.journal(), Counter(), [] {});
  Random random(1);
  const timeline::Call old = typical_call(random, kSampleWall, 1);
  loop.begin(begun_call(old));
  int kept = 0;
  for (int i = 0; i < 400; ++i) {
    const timeline::Call call = typical_call(random, kSampleWall, 1);
    loop.begin(begun_call(call));
    loop.end(call);
    if (i % 10 != 0) continue;
    tail.refresh();
    read_all(tail);
    for (const std::string_view begin : tail.begins_to_keep()) {
      CallKey key;
      REQUIRE(peek_call(begin, key));
      CHECK(key.id() == old.id);
      ++kept;
    }
    if (i % 20 == 0) {
      const int before = kept;
      tail.rewind();
      read_all(tail);
      kept += static_cast<int>(tail.begins_to_keep().size());
      if (before > 0 && kept > before) --kept;  // the refused one does not count
    }
    tail.accept();
  }
  CHECK(kept == 1);
  loop.end(old);
  tail.refresh();
  bool told = false;
  TailEntry entry;
  while (tail.next(entry)) told |= entry.was_kept && entry.key.id() == old.id;
  CHECK(told);
}

TEST_CASE("leftovers are read first; ends before the stored place are known as such") {
  const TempFolder folder;
  Random random(2);
  std::vector<timeline::Call> calls;
  JournalPosition middle;
  {
    JournalTail tail(opened(folder), {}, {});
    LoopJournal loop(tail.journal(), Counter(), [] {});
    for (int i = 0; i < 6; ++i) {
      calls.push_back(typical_call(random, kSampleWall, 1));
      loop.begin(begun_call(calls.back()));
      if (i != 1) loop.end(calls.back());
      if (i != 2) continue;
      tail.refresh();
      read_all(tail);
      middle = tail.position();
    }
  }
  JournalTail tail(opened(folder), middle, {});
  LoopJournal loop(tail.journal(), Counter(), [] {});
  const timeline::Call fresh = typical_call(random, kSampleWall, 1);
  loop.end(fresh);
  tail.refresh();
  CHECK(tail.has_work());
  std::vector<bool> stored;
  TailEntry entry;
  while (tail.next(entry)) {
    if (entry.type == RecordType::kEnd) stored.push_back(entry.is_stored);
  }
  CHECK(stored == std::vector<bool>{true, true, false, false, false});
  REQUIRE(tail.at_boundary());
  REQUIRE(tail.open_begins().size() == 1);
  CallKey key;
  REQUIRE(peek_call(tail.open_begins()[0], key));
  CHECK(key.id() == calls[1].id);
  tail.pass_boundary();
  REQUIRE(tail.next(entry));
  CHECK(entry.key.id() == fresh.id);
  CHECK_FALSE(entry.is_stored);
  // Refused: the boundary is before us again, with what was open.
  tail.rewind();
  while (tail.next(entry)) {
  }
  REQUIRE(tail.at_boundary());
  CHECK(tail.open_begins().size() == 1);
  tail.pass_boundary();
  read_all(tail);
  CHECK(tail.oldest() >= tail.journal().first_own_sequence());
  tail.accept();
  CHECK(tail.journal().free_segments() == 5);  // all but the one that is being filled
}

TEST_CASE("an end that found no room is told as soon as there is some") {
  const TempFolder folder;
  JournalTail tail(opened(folder), {}, {});
  LoopJournal loop(tail.journal(), Counter(), [] {});
  Random random(3);
  uint64_t begun = 0;
  while (loop.lost() < 20) {
    const timeline::Call call = typical_call(random, kSampleWall, 200);
    loop.begin(begun_call(call));
    loop.end(call);
    ++begun;
  }
  tail.refresh();
  const Seen seen = read_all(tail);
  tail.accept();
  CHECK(seen.ends.size() == begun - loop.lost());
  loop.close();
  tail.refresh();
  read_all(tail);
  tail.accept();
  CHECK(tail.open_count() == 0);
}

}  // namespace
}  // namespace hw::journal
