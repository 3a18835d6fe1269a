#include "store/schema.h"

#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/random.h"
#include "base/text.h"

namespace hw::store {
namespace {

// Calls are kept in blocks, since a row for each would cost more than the call itself.
//   call_blocks      the records of encode_call(), each behind its size. first_ms and last_ms: the
//                    range of times in the ids of calls that arrived within a minute of the latest
//                    one in the block; others have an alias. last_finish: wall ns of the latest
//                    end.
//   call_aliases     finds a block by client_request_id, by a caller's trace id, or by the id of a
//                    call that took longer than a minute.
//   journal_positions  up to where each journal is stored: calls of earlier segments than `oldest`
//                    are in the tables in every respect; ends before (sequence, offset) are in
//                    blocks.
//   open_calls       begins of calls that are still open and whose segment was given back.
//   keys             keys made at run time; models one a line.
//   facts            identity: random bytes of this database. keys_version: raised by every change
//                    of keys, so that another process notices.
constexpr const char* kSteps[kSchemaVersion] = {
    R"sql(
CREATE TABLE facts(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
INSERT INTO facts VALUES('identity', randomblob(16)), ('keys_version', 0);
CREATE TABLE call_blocks(
  id INTEGER PRIMARY KEY, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
  last_finish INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX call_blocks_by_arrival ON call_blocks(last_ms, first_ms);
CREATE INDEX call_blocks_by_finish ON call_blocks(last_finish);
CREATE TABLE call_aliases(
  alias TEXT NOT NULL, block INTEGER NOT NULL, PRIMARY KEY(alias, block)) WITHOUT ROWID;
CREATE INDEX call_aliases_by_block ON call_aliases(block);
CREATE TABLE journal_positions(
  loop INTEGER PRIMARY KEY, oldest INTEGER NOT NULL, sequence INTEGER NOT NULL,
  offset INTEGER NOT NULL);
CREATE TABLE open_calls(
  id BLOB PRIMARY KEY, loop INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys(
  id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, sha256 BLOB NOT NULL UNIQUE,
  prefix TEXT NOT NULL, created INTEGER NOT NULL, disabled INTEGER NOT NULL,
  models TEXT NOT NULL) WITHOUT ROWID;
)sql",
};

Status take_step(Database& database, int version) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return fail(transaction.error());
  // Another process may have taken the step while this one waited for the lock.
  const Result<int64_t> present = database.number("PRAGMA user_version");
  if (!present) return fail(present.error());
  if (*present >= version) return {};
  if (Status done = database.run(kSteps[version - 1]); !done) return done;
  if (Status set = database.run(concat("PRAGMA user_version = ", version).c_str()); !set) {
    return set;
  }
  return transaction->commit();
}

}  // namespace

Status migrate(Database& database) {
  const Result<int64_t> present = database.number("PRAGMA user_version");
  if (!present) return fail(present.error());
  if (*present > kSchemaVersion) {
    return fail(ErrorCode::kStore,
                concat("The database was written by a newer Headway (its tables are version ",
                       *present, ", this program knows ", kSchemaVersion,
                       "). Run that version, or set [store] path to a new file."));
  }
  for (int version = static_cast<int>(*present) + 1; version <= kSchemaVersion; ++version) {
    if (Status done = take_step(database, version); !done) return done;
  }
  return {};
}

Result<std::array<uint8_t, 16>> store_identity(Database& database) {
  Result<Statement> query = database.prepare("SELECT value FROM facts WHERE name = 'identity'");
  if (!query) return fail(query.error());
  const Result<bool> row = query->step();
  if (!row) return fail(row.error());
  std::array<uint8_t, 16> identity{};
  if (!*row || query->blob(0).size() != identity.size()) {
    return fail(ErrorCode::kStore, "The database has lost its identity.");
  }
  std::memcpy(identity.data(), query->blob(0).data(), identity.size());
  return identity;
}

Result<std::unique_ptr<Database>> open_store_database(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // where it cannot be made, opening says why
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  Result<std::unique_ptr<Database>> database = Database::open(path, Database::Mode::kReadWrite);
  if (!database) return database;
  if (Status ready = migrate(**database); !ready) return fail(ready.error());
  if (Status ready = (*database)->keep_order(); !ready) return fail(ready.error());
  return database;
}

}  // namespace hw::store
