// Database and Statement: SQLite's C interface with owners and Results. sqlite3.h stays in
// database.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hw::store {

class Statement;

// One connection. Used by one thread at a time.
class Database {
 public:
  enum class Mode : uint8_t {
    kReadWrite,  // makes the file where it is missing, readable by its owner only
    kReadOnly,   // an existing file
  };

  // Opens `path` in WAL mode with synchronous=NORMAL: a commit waits for no disk, and a crash of
  // the machine may lose the latest ones but never the order. kStore where it cannot be opened or
  // is no database.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // From now on a commit waits for no disk, a checkpoint does (synchronous=NORMAL): a crash of the
  // machine may lose the latest commits but never their order. For when the tables are made.
  Status keep_order();
  // Runs statements that yield nothing.
  Status run(const char* sql);
  // Compiles one statement. The database must outlive it.
  Result<Statement> prepare(std::string_view sql);
  // The first column of the first row of a query, an integer; 0 where there is no row.
  Result<int64_t> number(std::string_view sql);
  // How long to wait for a lock of another connection. 5 s at first.
  void set_busy_timeout_ms(int timeout_ms);
  int64_t last_insert_id() const;
  // Rows that the latest statement changed.
  int64_t changes() const;

  // What the latest failure of this connection was, as an Error of code kStore.
  Error failure(std::string_view doing) const;

 private:
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  Status set_up();
  sqlite3* handle_;
  std::string path_;
};

// A compiled statement with its values. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // Values; texts and blobs must live until the statement has run.
  Statement& bind(int parameter, int64_t value);
  Statement& bind_text(int parameter, std::string_view value);
  Statement& bind_blob(int parameter, std::string_view value);

  // The next row: true where there is one. After false or an error the statement can be bound and
  // run anew.
  Result<bool> step();
  // step() of a statement that yields no rows.
  Status run();
  // Gives up the rows that are left.
  void reset();

  // Of the current row; texts and blobs live until the next step.
  int64_t integer(int column) const;
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  friend class Database;
  Statement(Database* database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}
  Database* database_ = nullptr;
  sqlite3_stmt* handle_ = nullptr;
};

// A transaction that is undone unless commit() succeeds.
class Transaction {
 public:
  // Takes the write lock.
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  // Makes it last. Errors: kStore; then nothing has happened.
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace hw::store
