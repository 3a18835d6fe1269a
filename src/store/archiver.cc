#include "store/archiver.h"

#include "base/log.h"
#include "base/text.h"
#include "base/varint.h"

namespace hw::store {
namespace {

std::string_view as_view(const std::array<uint8_t, 16>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t hash_of(std::string_view id) {
  std::array<uint8_t, 16> bytes{};
  if (id.size() == bytes.size()) std::copy(id.begin(), id.end(), bytes.begin());
  return journal::id_hash(bytes);
}

tl::unexpected<Error> injected() {
  return fail(ErrorCode::kStore, "The database refuses, because a test wants it to.");
}

}  // namespace

Result<std::unique_ptr<Archiver>> Archiver::create(Database& database, journal::FaultSeam* faults,
                                                   Stored stored) {
  std::unique_ptr<Archiver> archiver(new Archiver(database, faults, std::move(stored)));
  if (Status ready = archiver->prepare(); !ready) return fail(ready.error());
  return archiver;
}

Status Archiver::prepare() {
  const auto prepare_into = [this](Statement& statement, std::string_view sql) -> Status {
    Result<Statement> prepared = database_.prepare(sql);
    if (!prepared) return fail(prepared.error());
    statement = std::move(*prepared);
    return {};
  };
  struct Wanted {
    Statement& statement;
    std::string_view sql;
  };
  const Wanted all[] = {
      {insert_block_,
       "INSERT INTO call_blocks(first_ms, last_ms, last_finish, count, data) "
       "VALUES(?1, ?2, ?3, ?4, ?5)"},
      {insert_alias_, "INSERT OR IGNORE INTO call_aliases(alias, block) VALUES(?1, ?2)"},
      {insert_open_, "INSERT OR REPLACE INTO open_calls(id, loop, data) VALUES(?1, ?2, ?3)"},
      {delete_open_, "DELETE FROM open_calls WHERE id = ?1"},
      {delete_loop_, "DELETE FROM open_calls WHERE loop = ?1"},
      {put_position_,
       "INSERT OR REPLACE INTO journal_positions(loop, oldest, sequence, offset) "
       "VALUES(?1, ?2, ?3, ?4)"},
  };
  for (const Wanted& wanted : all) {
    if (Status ready = prepare_into(wanted.statement, wanted.sql); !ready) return ready;
  }
  return {};
}

Result<Archiver::Place> Archiver::place_of(uint32_t loop) {
  Result<Statement> query =
      database_.prepare("SELECT oldest, sequence, offset FROM journal_positions WHERE loop = ?1");
  if (!query) return fail(query.error());
  const Result<bool> row = query->bind(1, loop).step();
  if (!row) return fail(row.error());
  Place place;
  if (*row) {
    place.oldest = static_cast<uint64_t>(query->integer(0));
    place.stored.sequence = static_cast<uint64_t>(query->integer(1));
    place.stored.offset = static_cast<uint32_t>(query->integer(2));
  }
  return place;
}

Status Archiver::add(std::unique_ptr<journal::Journal> journal, const Place& place) {
  Result<Statement> query = database_.prepare("SELECT id FROM open_calls WHERE loop = ?1");
  if (!query) return fail(query.error());
  query->bind(1, journal->loop());
  std::vector<uint64_t> kept;
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) return fail(row.error());
    if (!*row) break;
    kept.push_back(hash_of(query->blob(0)));
  }
  tails_.push_back(std::make_unique<journal::JournalTail>(std::move(journal), place.stored, kept));
  return {};
}

Status Archiver::interrupt_orphans() {
  std::string known;
  for (const auto& tail : tails_) {
    append(known, known.empty() ? "" : ",");
    append(known, tail->journal().loop());
  }
  const std::string strangers = concat(" FROM open_calls WHERE loop NOT IN (", known, ")");
  const Result<int64_t> count = database_.number(concat("SELECT count(*)", strangers));
  if (!count) return fail(count.error());
  if (*count == 0) return {};
  Result<Transaction> transaction = Transaction::begin(database_);
  if (!transaction) return fail(transaction.error());
  Result<Statement> query = database_.prepare(concat("SELECT data", strangers));
  if (!query) return fail(query.error());
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) return fail(row.error());
    if (!*row) break;
    if (Status done = interrupt(query->blob(0)); !done) return done;
  }
  if (Status done = flush_block(); !done) return done;
  for_stored_.clear();
  if (Status done = database_.run(concat("DELETE", strangers).c_str()); !done) return done;
  return transaction->commit();
}

bool Archiver::look_for_work() {
  bool any = false;
  for (const auto& tail : tails_) {
    tail->refresh();
    any |= tail->has_work();
  }
  return any;
}

Result<bool> Archiver::archive() {
  if (!look_for_work()) return false;
  size_t budget = kTransactionBytesMax;
  const Status done = archive_within(budget);
  block_.clear();
  if (!done) {
    for (const auto& tail : tails_) tail->rewind();
    for_stored_.clear();
    return fail(done.error());
  }
  std::string_view records = for_stored_, record;
  while (journal::next_in_block(records, record)) stored_(record);
  for_stored_.clear();
  for (const auto& tail : tails_) tail->accept();
  return budget == 0;
}

std::vector<std::string> Archiver::find_waiting(const journal::CallName& name, size_t count_max) {
  std::vector<std::string> found;
  for (const auto& tail : tails_) {
    tail->refresh();
    journal::TailEntry entry;
    for (;;) {
      if (!tail->next(entry)) {
        if (!tail->at_boundary()) break;
        tail->pass_boundary();
        continue;
      }
      const bool waits = entry.type == journal::RecordType::kEnd && !entry.is_stored;
      if (waits && found.size() < count_max && name.matches(entry.key))
        found.emplace_back(entry.payload);
    }
    tail->rewind();
  }
  return found;
}

Status Archiver::archive_within(size_t& budget) {
  if (journal::fails(faults_, journal::FaultPoint::kBegin)) return injected();
  Result<Transaction> transaction = Transaction::begin(database_);
  if (!transaction) return fail(transaction.error());
  for (const auto& tail : tails_) {
    if (!tail->has_work()) continue;
    if (Status done = take(*tail, budget); !done) return done;
    if (Status done = keep_open(*tail); !done) return done;
    if (Status done = write_position(*tail); !done) return done;
  }
  if (Status done = flush_block(); !done) return done;
  if (journal::fails(faults_, journal::FaultPoint::kCommit)) return injected();
  return transaction->commit();
}

// Reads on in one journal until nothing is left or the budget is used up.
Status Archiver::take(journal::JournalTail& tail, size_t& budget) {
  journal::TailEntry entry;
  while (budget > 0) {
    if (!tail.next(entry)) {
      if (!tail.at_boundary()) return {};
      if (Status done = interrupt_open(tail); !done) return done;
      continue;
    }
    budget -= std::min(budget, journal::record_bytes(entry.payload.size()));
    if (entry.was_kept) {
      const Status done = insert(delete_open_.bind_blob(1, as_view(entry.key.id_bytes)));
      if (!done) return done;
    }
    if (entry.type != journal::RecordType::kEnd || entry.is_stored) continue;
    if (Status done = add_to_block(entry.payload, entry.key); !done) return done;
  }
  return {};
}

// What an earlier process had open when it died.
Status Archiver::interrupt_open(journal::JournalTail& tail) {
  for (const std::string_view begin : tail.open_begins()) {
    if (Status done = interrupt(begin); !done) return done;
  }
  Result<Statement> kept = database_.prepare("SELECT data FROM open_calls WHERE loop = ?1");
  if (!kept) return fail(kept.error());
  kept->bind(1, tail.journal().loop());
  for (;;) {
    const Result<bool> row = kept->step();
    if (!row) return fail(row.error());
    if (!*row) break;
    if (Status done = interrupt(kept->blob(0)); !done) return done;
  }
  if (Status done = insert(delete_loop_.bind(1, tail.journal().loop())); !done) return done;
  tail.pass_boundary();
  return {};
}

Status Archiver::interrupt(std::string_view begin) {
  Result<timeline::Call> call = journal::decode_call(begin);
  if (!call) {
    log_error("store", concat("An interrupted call is dropped: ", call.error().message));
    return {};
  }
  call->outcome = Outcome::kInterrupted;
  call->error.code = outcome_name(Outcome::kInterrupted);
  call->error.message = "The gateway's process ended while this call was open.";
  buffer_.resize(journal::kCallBytesMax);
  const std::string_view record = journal::encode_call(*call, buffer_);
  journal::CallKey key;
  if (!journal::peek_call(record, key)) return {};
  return add_to_block(record, key);
}

Status Archiver::keep_open(journal::JournalTail& tail) {
  for (const std::string_view begin : tail.begins_to_keep()) {
    journal::CallKey key;
    if (!journal::peek_call(begin, key)) continue;
    insert_open_.bind_blob(1, as_view(key.id_bytes));
    insert_open_.bind(2, tail.journal().loop());
    insert_open_.bind_blob(3, begin);
    if (Status done = insert(insert_open_); !done) return done;
  }
  return {};
}

Status Archiver::write_position(const journal::JournalTail& tail) {
  const journal::JournalPosition position = tail.position();
  put_position_.bind(1, tail.journal().loop());
  put_position_.bind(2, static_cast<int64_t>(tail.oldest()));
  put_position_.bind(3, static_cast<int64_t>(position.sequence));
  put_position_.bind(4, position.offset);
  return insert(put_position_);
}

Status Archiver::add_to_block(std::string_view record, const journal::CallKey& key) {
  block_.add(record, key);
  if (stored_ != nullptr) {
    append_varint(for_stored_, record.size());
    for_stored_.append(record);
  }
  return block_.full() ? flush_block() : Status();
}

Status Archiver::flush_block() {
  if (block_.empty()) return {};
  insert_block_.bind(1, block_.first_ms());
  insert_block_.bind(2, block_.last_ms());
  insert_block_.bind(3, block_.last_finish());
  insert_block_.bind(4, static_cast<int64_t>(block_.count()));
  insert_block_.bind_blob(5, block_.data());
  if (Status done = insert(insert_block_); !done) return done;
  const int64_t block = database_.last_insert_id();
  for (const std::string& alias : block_.aliases()) {
    insert_alias_.bind_text(1, alias);
    insert_alias_.bind(2, block);
    if (Status done = insert(insert_alias_); !done) return done;
  }
  block_.clear();
  return {};
}

Status Archiver::insert(Statement& statement) {
  if (journal::fails(faults_, journal::FaultPoint::kInsert)) return injected();
  return statement.run();
}

}  // namespace hw::store
