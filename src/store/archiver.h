// Archiver: moves what the journals hold into the database, each call exactly once.
//
// One transaction takes the new records of all journals: ended calls go into blocks, begins whose
// segment is about to be given back into open_calls, and the place up to which each journal is read
// into journal_positions. Whatever the process dies between, either all of it happened or nothing.
// Belongs to the writer thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/call_block.h"
#include "journal/call_name.h"
#include "journal/faults.h"
#include "journal/journal_tail.h"
#include "store/database.h"

namespace hw::store {

class Archiver {
 public:
  // Bytes of records that one transaction takes at most, so that a long tail does not become one
  // huge transaction.
  static constexpr size_t kTransactionBytesMax = 1024 * 1024;

  // What a transaction has stored; valid during the call only.
  using Stored = std::function<void(std::string_view record)>;

  // `database` and `faults` outlive the archiver. `stored` may be null; it is called for each call,
  // after the transaction that holds it is done.
  static Result<std::unique_ptr<Archiver>> create(Database& database, journal::FaultSeam* faults,
                                                  Stored stored);

  // Where the journal of a loop begins: its row in journal_positions; zeros where there is none.
  struct Place {
    uint64_t oldest = 0;
    journal::JournalPosition stored;
  };
  Result<Place> place_of(uint32_t loop);
  // Takes a journal over; begins in open_calls of this loop belong to it.
  Status add(std::unique_ptr<journal::Journal> journal, const Place& place);
  // Begins in open_calls of loops whose journal is gone become interrupted calls. Call after all
  // add().
  Status interrupt_orphans();

  // Whether any journal has something new.
  bool look_for_work();
  // One transaction, where there is anything to do. True when it took as much as it may and there
  // is more. On failure nothing has happened and it may be tried again.
  Result<bool> archive();

  // Records of ended calls of this name that are in the journals only, oldest first, at most
  // `count_max`. Reads everything that is there and changes nothing.
  std::vector<std::string> find_waiting(const journal::CallName& name, size_t count_max);

  // One for each loop, in their order.
  std::vector<std::unique_ptr<journal::JournalTail>>& tails() { return tails_; }

 private:
  Archiver(Database& database, journal::FaultSeam* faults, Stored stored)
      : database_(database), faults_(faults), stored_(std::move(stored)) {}

  Status prepare();
  Status archive_within(size_t& budget);
  Status take(journal::JournalTail& tail, size_t& budget);
  Status interrupt_open(journal::JournalTail& tail);
  Status interrupt(std::string_view begin);
  Status keep_open(journal::JournalTail& tail);
  Status write_position(const journal::JournalTail& tail);
  Status add_to_block(std::string_view record, const journal::CallKey& key);
  Status flush_block();
  Status insert(Statement& statement);

  Database& database_;
  journal::FaultSeam* const faults_;
  const Stored stored_;
  std::vector<std::unique_ptr<journal::JournalTail>> tails_;
  journal::BlockBuilder block_;
  std::string for_stored_;  // records of this transaction, as in a block; only where stored_ is set
  std::vector<char> buffer_;
  Statement insert_block_, insert_alias_, insert_open_, delete_open_, delete_loop_, put_position_;
};

}  // namespace hw::store
