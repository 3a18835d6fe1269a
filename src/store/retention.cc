#include "store/retention.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace hw::store {
namespace {

// 2 MiB at a time, so that the writer is soon back at the journals.
constexpr int kVacuumPages = 512;

Result<uint64_t> bytes_in_use(Database& database) {
  const Result<int64_t> pages = database.number("PRAGMA page_count");
  if (!pages) return fail(pages.error());
  const Result<int64_t> unused = database.number("PRAGMA freelist_count");
  if (!unused) return fail(unused.error());
  const Result<int64_t> page_bytes = database.number("PRAGMA page_size");
  if (!page_bytes) return fail(page_bytes.error());
  return static_cast<uint64_t>((*pages - *unused) * *page_bytes);
}

// Ids of up to kPruneBlocksMax blocks that must go.
Result<std::vector<int64_t>> blocks_too_old(Database& database, int keep_days, Nanos now_wall) {
  Result<Statement> query = database.prepare(
      "SELECT id FROM call_blocks WHERE last_finish < ?1 ORDER BY last_finish LIMIT ?2");
  if (!query) return fail(query.error());
  query->bind(1, now_wall - keep_days * 86'400 * kSecond).bind(2, kPruneBlocksMax);
  std::vector<int64_t> blocks;
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) return fail(row.error());
    if (!*row) return blocks;
    blocks.push_back(query->integer(0));
  }
}

// The oldest blocks that together make up for `excess` bytes.
Result<std::vector<int64_t>> blocks_too_many(Database& database, uint64_t excess) {
  Result<Statement> query =
      database.prepare("SELECT id, length(data) FROM call_blocks ORDER BY id LIMIT ?1");
  if (!query) return fail(query.error());
  query->bind(1, kPruneBlocksMax);
  std::vector<int64_t> blocks;
  uint64_t freed = 0;
  while (freed < excess) {
    const Result<bool> row = query->step();
    if (!row) return fail(row.error());
    if (!*row) break;
    blocks.push_back(query->integer(0));
    freed += static_cast<uint64_t>(query->integer(1));
  }
  return blocks;
}

Status remove_blocks(Database& database, const std::vector<int64_t>& blocks) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return fail(transaction.error());
  for (const char* sql :
       {"DELETE FROM call_aliases WHERE block = ?1", "DELETE FROM call_blocks WHERE id = ?1"}) {
    Result<Statement> removal = database.prepare(sql);
    if (!removal) return fail(removal.error());
    for (const int64_t block : blocks) {
      if (Status done = removal->bind(1, block).run(); !done) return done;
    }
  }
  return transaction->commit();
}

}  // namespace

Result<bool> prune_step(Database& database, const RetentionLimits& limits, Nanos now_wall) {
  std::vector<int64_t> blocks;
  if (limits.keep_days > 0) {
    Result<std::vector<int64_t>> old = blocks_too_old(database, limits.keep_days, now_wall);
    if (!old) return fail(old.error());
    blocks = std::move(*old);
  }
  if (blocks.empty() && limits.bytes_max > 0) {
    const Result<uint64_t> used = bytes_in_use(database);
    if (!used) return fail(used.error());
    if (*used > limits.bytes_max) {
      Result<std::vector<int64_t>> many = blocks_too_many(database, *used - limits.bytes_max);
      if (!many) return fail(many.error());
      blocks = std::move(*many);
    }
  }
  if (!blocks.empty()) {
    if (Status removed = remove_blocks(database, blocks); !removed) return fail(removed.error());
  }
  const Result<int64_t> unused = database.number("PRAGMA freelist_count");
  if (!unused) return fail(unused.error());
  if (*unused == 0) return !blocks.empty();
  if (Status done = database.run(concat("PRAGMA incremental_vacuum(", kVacuumPages, ")").c_str());
      !done) {
    return fail(done.error());
  }
  return !blocks.empty() || *unused > kVacuumPages;
}

}  // namespace hw::store
