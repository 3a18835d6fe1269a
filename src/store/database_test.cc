#include "store/database.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_folder.h"
#include "base/text.h"
#include "store/schema.h"

namespace hw::store {
namespace {

std::unique_ptr<Database> opened(const std::string& path) {
  auto database = Database::open(path, Database::Mode::kReadWrite);
  REQUIRE(database.has_value());
  return std::move(*database);
}

TEST_CASE("values of every kind come back from a row") {
  const TempFolder folder;
  const auto database = opened(folder.file("d.db"));
  REQUIRE(database->run("CREATE TABLE t(a, b, c)").has_value());
  auto insert = database->prepare("INSERT INTO t VALUES(?1, ?2, ?3)");
  REQUIRE(insert.has_value());
  const std::string blob("a\0b", 3);
  REQUIRE(insert->bind(1, INT64_MIN).bind_text(2, "text").bind_blob(3, blob).run().has_value());
  REQUIRE(insert->bind(1, 2).bind_text(2, "").bind_blob(3, "").run().has_value());
  CHECK(database->last_insert_id() == 2);
  auto query = database->prepare("SELECT a, b, c FROM t ORDER BY a");
  REQUIRE(query.has_value());
  REQUIRE(query->step().value());
  CHECK(query->integer(0) == INT64_MIN);
  CHECK(query->text(1) == "text");
  CHECK(query->blob(2) == blob);
  REQUIRE(query->step().value());
  CHECK(query->text(1).empty());
  CHECK(query->blob(2).empty());
  CHECK_FALSE(query->step().value());
  CHECK(database->number("SELECT count(*) FROM t WHERE b IS NOT NULL AND c IS NOT NULL").value() ==
        2);
  CHECK(database->number("SELECT a FROM t WHERE a > 5").value() == 0);
}

TEST_CASE("a transaction that is not committed has not happened") {
  const TempFolder folder;
  const auto database = opened(folder.file("d.db"));
  REQUIRE(database->run("CREATE TABLE t(a)").has_value());
  {
    auto transaction = Transaction::begin(*database);
    REQUIRE(transaction.has_value());
    REQUIRE(database->run("INSERT INTO t VALUES(1)").has_value());
  }
  CHECK(database->number("SELECT count(*) FROM t").value() == 0);
  auto transaction = Transaction::begin(*database);
  REQUIRE(transaction.has_value());
  REQUIRE(database->run("INSERT INTO t VALUES(1)").has_value());
  REQUIRE(transaction->commit().has_value());
  CHECK(database->number("SELECT count(*) FROM t").value() == 1);
}

TEST_CASE("a locked database fails after the time it was given, and says so") {
  const TempFolder folder;
  const auto one = opened(folder.file("d.db"));
  const auto two = opened(folder.file("d.db"));
  REQUIRE(one->run("CREATE TABLE t(a)").has_value());
  two->set_busy_timeout_ms(1);
  auto held = Transaction::begin(*one);
  REQUIRE(held.has_value());
  const auto refused = Transaction::begin(*two);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kStore);
  CHECK(refused.error().message.find("locked") != std::string::npos);
}

TEST_CASE("the file is its owner's alone") {
  const TempFolder folder;
  const auto database = opened(folder.file("d.db"));
  struct stat info;
  REQUIRE(stat(folder.file("d.db").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("what is no database is refused with its name") {
  const TempFolder folder;
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  for (const std::string& path : {folder.file("text"), std::string("/nonexistent/d.db")}) {
    const auto database = Database::open(path, Database::Mode::kReadWrite);
    REQUIRE_FALSE(database.has_value());
    CHECK(database.error().message.find(path) != std::string::npos);
  }
  CHECK_FALSE(Database::open(folder.file("absent"), Database::Mode::kReadOnly).has_value());
  CHECK_FALSE(std::filesystem::exists(folder.file("absent")));
}

TEST_CASE("migration brings an empty database to the present tables, once") {
  const TempFolder folder;
  const std::string path = folder.file("new/folder/d.db");
  std::array<uint8_t, 16> identity{};
  {
    auto database = open_store_database(path);
    REQUIRE(database.has_value());
    CHECK((*database)->number("PRAGMA user_version").value() == kSchemaVersion);
    CHECK((*database)->number("SELECT count(*) FROM call_blocks").value() == 0);
    CHECK((*database)->number("PRAGMA auto_vacuum").value() == 2);  // incremental
    identity = store_identity(**database).value();
    CHECK(identity != std::array<uint8_t, 16>{});
  }
  auto again = open_store_database(path);
  REQUIRE(again.has_value());
  CHECK(store_identity(**again).value() == identity);
}

TEST_CASE("a database of a newer program is left as it is, with a clear message") {
  const TempFolder folder;
  const std::string path = folder.file("d.db");
  REQUIRE(opened(path)->run("PRAGMA user_version = 99; CREATE TABLE future(a)").has_value());
  const auto database = open_store_database(path);
  REQUIRE_FALSE(database.has_value());
  CHECK(database.error().message.find("newer Headway") != std::string::npos);
  CHECK(opened(path)->number("PRAGMA user_version").value() == 99);
}

}  // namespace
}  // namespace hw::store
