#include "store/call_reader.h"

#include <algorithm>

#include "base/text.h"
#include "journal/call_block.h"
#include "journal/call_codec.h"
#include "journal/call_name.h"

namespace hw::store {
namespace {

using timeline::Call;

// A record in a block with the end that orders it.
struct Ranked {
  Nanos finish = 0;
  journal::CallKey key;
  std::string_view record;
};

// The calls of a block, latest end first; those that cannot be read are left out.
std::vector<Ranked> ranked(std::string_view data) {
  std::vector<Ranked> calls;
  std::string_view record;
  while (journal::next_in_block(data, record)) {
    Ranked call;
    if (!journal::peek_call(record, call.key)) continue;
    call.finish = call.key.arrived_wall + std::max<Nanos>(call.key.finished, 0);
    call.record = record;
    calls.push_back(call);
  }
  // Of equal ends the one further back in the block was stored later.
  std::sort(calls.begin(), calls.end(), [](const Ranked& a, const Ranked& b) {
    return a.finish != b.finish ? a.finish > b.finish : a.record.data() > b.record.data();
  });
  return calls;
}

bool any_attempt_on(const Call& call, std::string_view channel) {
  return std::any_of(call.attempts.begin(), call.attempts.end(),
                     [&](const timeline::Attempt& attempt) { return attempt.channel == channel; });
}

bool fits(const CallQuery& query, const Call& call) {
  if (query.outcome.has_value() && call.outcome != *query.outcome) return false;
  if (!query.model.empty() && call.model != query.model) return false;
  if (!query.key.empty() && call.key != query.key) return false;
  if (query.slow_ns > 0 && call.total_ns() < query.slow_ns) return false;
  return query.channel.empty() || any_attempt_on(call, query.channel);
}

}  // namespace

Status CallReader::open() {
  if (database_ != nullptr) return {};
  Result<std::unique_ptr<Database>> opened = Database::open(path_, Database::Mode::kReadOnly);
  if (!opened) return fail(opened.error());
  database_ = std::move(*opened);
  return {};
}

Result<std::vector<Call>> CallReader::find(std::string_view id_or_alias) {
  const std::lock_guard guard(lock_);
  if (Status opened = open(); !opened) return fail(opened.error());
  const journal::CallName name(id_or_alias);
  const Result<std::vector<int64_t>> blocks = blocks_with(id_or_alias);
  if (!blocks) return fail(blocks.error());
  std::vector<Call> calls;
  for (const int64_t block : *blocks) {
    const Result<std::string> data = block_data(block);
    if (!data) return fail(data.error());
    for (const Ranked& candidate : ranked(*data)) {
      if (!name.matches(candidate.key)) continue;
      Result<Call> call = journal::decode_call(candidate.record);
      if (!call) return fail(call.error());
      calls.push_back(std::move(*call));
      if (calls.size() == static_cast<size_t>(CallQuery::kLimitMax)) return calls;
    }
  }
  return calls;
}

// The blocks that may hold calls of this name, latest first.
Result<std::vector<int64_t>> CallReader::blocks_with(std::string_view name_text) {
  const journal::CallName name(name_text);
  Result<Statement> query = database_->prepare(
      "SELECT block FROM call_aliases WHERE alias IN (?1, ?4) UNION "
      "SELECT id FROM call_blocks WHERE last_ms BETWEEN ?2 AND ?3 AND first_ms <= ?2 "
      "ORDER BY 1 DESC");
  if (!query) return fail(query.error());
  const std::string alias = name.alias();
  query->bind_text(1, alias);
  query->bind_text(4, name_text);
  query->bind(2, name.may_be_id() ? name.id_ms() : -1);
  query->bind(3, name.may_be_id() ? name.id_ms() + journal::kBlockSpanMs : -1);
  std::vector<int64_t> blocks;
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) return fail(row.error());
    if (!*row) return blocks;
    blocks.push_back(query->integer(0));
  }
}

// Empty where the block has been pruned meanwhile.
Result<std::string> CallReader::block_data(int64_t block) {
  Result<Statement> query = database_->prepare("SELECT data FROM call_blocks WHERE id = ?1");
  if (!query) return fail(query.error());
  const Result<bool> row = query->bind(1, block).step();
  if (!row) return fail(row.error());
  return *row ? std::string(query->blob(0)) : std::string();
}

Result<CallReader::Spot> CallReader::spot_of(std::string_view id) {
  const journal::CallName name(id);
  const Result<std::vector<int64_t>> blocks = blocks_with(id);
  if (!blocks) return fail(blocks.error());
  for (const int64_t block : *blocks) {
    const Result<std::string> data = block_data(block);
    if (!data) return fail(data.error());
    const std::vector<Ranked> calls = ranked(*data);
    for (size_t rank = 0; rank < calls.size(); ++rank) {
      if (name.has_id && calls[rank].key.id_bytes == name.id_bytes) return Spot{block, rank};
    }
  }
  return fail(ErrorCode::kBadRequest,
              concat("There is no call ", id, " in the log to list calls before."));
}

// Blocks below this one hold nothing that ended since the query's time.
Result<int64_t> CallReader::oldest_block(const CallQuery& query) {
  if (query.since_wall <= 0) return 0;
  Result<Statement> first =
      database_->prepare("SELECT min(id) FROM call_blocks WHERE last_finish >= ?1");
  if (!first) return fail(first.error());
  const Result<bool> row = first->bind(1, query.since_wall).step();
  if (!row) return fail(row.error());
  const int64_t oldest = *row ? first->integer(0) : 0;
  return oldest == 0 ? INT64_MAX : oldest;  // no row matches: min() is NULL
}

Result<CallPage> CallReader::list(const CallQuery& query) {
  const std::lock_guard guard(lock_);
  if (Status opened = open(); !opened) return fail(opened.error());
  // One snapshot for all that follows.
  if (Status begun = database_->run("BEGIN"); !begun) return fail(begun.error());
  Result<CallPage> page = [&]() -> Result<CallPage> {
    Spot after{INT64_MAX, SIZE_MAX};
    if (!query.before.empty()) {
      const Result<Spot> spot = spot_of(query.before);
      if (!spot) return fail(spot.error());
      after = *spot;
    }
    const Result<int64_t> oldest = oldest_block(query);
    if (!oldest) return fail(oldest.error());
    return collect(query, after, *oldest);
  }();
  static_cast<void>(database_->run("COMMIT"));
  return page;
}

// Calls behind `after`, from blocks not below `oldest`.
Result<CallPage> CallReader::collect(const CallQuery& query, const Spot& after, int64_t oldest) {
  const auto limit = static_cast<size_t>(std::clamp(query.limit, 1, CallQuery::kLimitMax));
  Result<Statement> rows = database_->prepare(
      "SELECT id, data FROM call_blocks WHERE id BETWEEN ?2 AND ?1 ORDER BY id DESC");
  if (!rows) return fail(rows.error());
  rows->bind(1, after.block).bind(2, oldest);
  CallPage page;
  RequestId last;  // the latest call that was looked at
  int scanned = 0;
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) return fail(row.error());
    if (!*row) return page;
    const std::vector<Ranked> calls = ranked(rows->blob(1));
    const bool first_block = rows->integer(0) == after.block;
    for (size_t rank = first_block ? after.rank + 1 : 0; rank < calls.size(); ++rank) {
      if (page.calls.size() == limit || scanned == CallPage::kScannedMax) {
        page.next = last.view();  // there is more: this call
        return page;
      }
      ++scanned;
      last = calls[rank].key.id();
      if (calls[rank].finish < query.since_wall) continue;
      Result<Call> call = journal::decode_call(calls[rank].record);
      if (!call) return fail(call.error());
      if (fits(query, *call)) page.calls.push_back(std::move(*call));
    }
  }
}

}  // namespace hw::store
