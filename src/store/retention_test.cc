#include "store/retention.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/temp_folder.h"
#include "base/text.h"
#include "store/schema.h"

namespace hw::store {
namespace {

constexpr Nanos kDay = 86'400 * kSecond;
constexpr Nanos kNow = 1'767'225'600 * kSecond;

std::unique_ptr<Database> opened(const TempFolder& folder) {
  auto database = open_store_database(folder.file("d.db"));
  REQUIRE(database.has_value());
  return std::move(*database);
}

void add_blocks(Database& database, int count, Nanos last_finish, size_t bytes) {
  auto transaction = Transaction::begin(database);
  REQUIRE(transaction.has_value());
  auto insert = database.prepare(
      "INSERT INTO call_blocks(first_ms, last_ms, last_finish, count, data) "
      "VALUES(0, 0, ?1, 1, ?2)");
  auto alias = database.prepare("INSERT INTO call_aliases VALUES(?1, ?2)");
  REQUIRE(insert.has_value());
  REQUIRE(alias.has_value());
  const std::string data(bytes, 'x');
  for (int i = 0; i < count; ++i) {
    REQUIRE(insert->bind(1, last_finish).bind_blob(2, data).run().has_value());
    const int64_t block = database.last_insert_id();
    REQUIRE(alias->bind_text(1, "name").bind(2, block).run().has_value());
  }
  REQUIRE(transaction->commit().has_value());
}

int prune_all(Database& database, const RetentionLimits& limits) {
  for (int steps = 1; steps < 1'000; ++steps) {
    const auto more = prune_step(database, limits, kNow);
    REQUIRE(more.has_value());
    if (!*more) return steps;
  }
  FAIL("pruning does not end");
  return 0;
}

int64_t count(Database& database, const char* table) {
  return database.number(concat("SELECT count(*) FROM ", std::string_view(table))).value();
}

TEST_CASE("calls older than the limit go, with their aliases, in steps") {
  const TempFolder folder;
  const auto database = opened(folder);
  add_blocks(*database, 100, kNow - 31 * kDay, 100);
  add_blocks(*database, 10, kNow - 29 * kDay, 100);
  CHECK(prune_step(*database, {30, 0}, kNow).value());
  CHECK(count(*database, "call_blocks") == 110 - kPruneBlocksMax);
  CHECK(prune_all(*database, {30, 0}) > 2);
  CHECK(count(*database, "call_blocks") == 10);
  CHECK(count(*database, "call_aliases") == 10);
}

TEST_CASE("without limits nothing goes") {
  const TempFolder folder;
  const auto database = opened(folder);
  add_blocks(*database, 10, 1, 10'000);
  CHECK(prune_all(*database, {0, 0}) == 1);
  CHECK(count(*database, "call_blocks") == 10);
}

TEST_CASE("past the size the oldest go, until it is kept, and the file shrinks") {
  const TempFolder folder;
  const auto database = opened(folder);
  add_blocks(*database, 100, kNow, 100'000);
  REQUIRE(database->run("PRAGMA wal_checkpoint(TRUNCATE)").has_value());
  const auto before = std::filesystem::file_size(folder.file("d.db"));
  constexpr uint64_t kBytesMax = 4'000'000;
  prune_all(*database, {30, kBytesMax});
  const int64_t left = count(*database, "call_blocks");
  CHECK(left >= 35);  // not more than needed
  CHECK(left <= 39);
  CHECK(count(*database, "call_aliases") == left);
  CHECK(database->number("SELECT min(id) FROM call_blocks").value() == 101 - left);
  REQUIRE(database->run("PRAGMA wal_checkpoint(TRUNCATE)").has_value());
  const auto after = std::filesystem::file_size(folder.file("d.db"));
  CHECK(after <= kBytesMax);
  CHECK(after < before / 2);
}

TEST_CASE("keys are never pruned") {
  const TempFolder folder;
  const auto database = opened(folder);
  REQUIRE(
      database->run("INSERT INTO keys VALUES('key_1', 'a', x'00', 'hw-', 0, 0, '*')").has_value());
  add_blocks(*database, 20, 1, 50'000);
  prune_all(*database, {1, 1});
  CHECK(count(*database, "call_blocks") == 0);
  CHECK(count(*database, "keys") == 1);
}

}  // namespace
}  // namespace hw::store
