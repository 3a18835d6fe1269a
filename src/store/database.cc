#include "store/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace hw::store {
namespace {

constexpr int kBusyTimeoutMs = 5'000;

// For a file without a page: incremental auto_vacuum can only be chosen for an empty database.
// Nothing is worth waiting for a disk yet; what is written now is synced with the first checkpoint.
constexpr char kSetUpEmpty[] =
    "PRAGMA synchronous = OFF;"
    "PRAGMA auto_vacuum = INCREMENTAL;";

// Writes nothing to a database that is set up, so that a start waits for no disk. The cache is
// small because blocks of calls are written once and hardly read; a WAL that has grown in a burst
// is cut back to 16 MiB.
constexpr char kSetUp[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA cache_size = -512;"
    "PRAGMA journal_size_limit = 16777216;"
    "PRAGMA foreign_keys = OFF;"
    "PRAGMA trusted_schema = OFF;";

// SQLite would make the file readable for all; it holds digests of keys and who asked what. An
// existing file is not touched: closing any descriptor of it would drop this process's locks on it.
bool make_private(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST;
  close(fd);
  return true;
}

int length(std::string_view text) {
  HW_ASSERT(text.size() < (1u << 30));
  return static_cast<int>(text.size());
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Mode mode) {
  if (mode == Mode::kReadWrite && !make_private(path)) {
    return fail(ErrorCode::kStore, concat("The database ", path, " cannot be opened: ",
                                          std::string_view(std::strerror(errno)), "."));
  }
  const int flags = SQLITE_OPEN_NOMUTEX |
                    (mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle, path));
  if (opened != SQLITE_OK) return fail(database->failure("opened"));
  sqlite3_extended_result_codes(handle, 1);
  database->set_busy_timeout_ms(kBusyTimeoutMs);
  const Status ready =
      mode == Mode::kReadWrite ? database->set_up() : database->run("PRAGMA cache_size = -512");
  if (!ready) return fail(ready.error());
  return database;
}

Status Database::set_up() {
  const Result<int64_t> pages = number("PRAGMA page_count");
  if (!pages) return fail(pages.error());
  if (*pages == 0) {
    if (Status done = run(kSetUpEmpty); !done) return done;
  }
  return run(kSetUp);
}

Database::~Database() {
  sqlite3_close_v2(handle_);
}

Status Database::keep_order() {
  return run("PRAGMA synchronous = NORMAL");
}

Status Database::run(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(failure("used"));
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.data(), length(sql), &handle, nullptr) != SQLITE_OK) {
    return fail(failure("used"));
  }
  return Statement(this, handle);
}

Result<int64_t> Database::number(std::string_view sql) {
  Result<Statement> query = prepare(sql);
  if (!query) return fail(query.error());
  const Result<bool> row = query->step();
  if (!row) return fail(row.error());
  return *row ? query->integer(0) : 0;
}

void Database::set_busy_timeout_ms(int timeout_ms) {
  sqlite3_busy_timeout(handle_, timeout_ms);
}

int64_t Database::last_insert_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}

Error Database::failure(std::string_view doing) const {
  const int code = handle_ == nullptr ? SQLITE_NOMEM : sqlite3_errcode(handle_) & 0xff;
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    return Error(ErrorCode::kStore,
                 concat("The database ", path_, " is locked by another program."));
  }
  const char* reason = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
  return Error(ErrorCode::kStore, concat("The database ", path_, " cannot be ", doing, ": ",
                                         std::string_view(reason), "."));
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(handle_, other.handle_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement& Statement::bind(int parameter, int64_t value) {
  const int bound = sqlite3_bind_int64(handle_, parameter, value);
  HW_ASSERT(bound == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_text(int parameter, std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* data = value.empty() ? "" : value.data();
  const int bound = sqlite3_bind_text(handle_, parameter, data, length(value), SQLITE_STATIC);
  HW_ASSERT(bound == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  const int bound = sqlite3_bind_blob(handle_, parameter, data, length(value), SQLITE_STATIC);
  HW_ASSERT(bound == SQLITE_OK);
  return *this;
}

Result<bool> Statement::step() {
  const int state = sqlite3_step(handle_);
  if (state == SQLITE_ROW) return true;
  Error error;
  if (state != SQLITE_DONE) error = database_->failure("used");
  sqlite3_reset(handle_);
  if (state == SQLITE_DONE) return false;
  return fail(std::move(error));
}

Status Statement::run() {
  const Result<bool> row = step();
  if (!row) return fail(row.error());
  HW_ASSERT(!*row);
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle_);
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_, column);
}

std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

Result<Transaction> Transaction::begin(Database& database) {
  if (Status begun = database.run("BEGIN IMMEDIATE"); !begun) return fail(begun.error());
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // A failure such as a full disk may have rolled back already; a second time does no harm.
  if (database_ != nullptr) static_cast<void>(database_->run("ROLLBACK"));
}

Status Transaction::commit() {
  if (Status done = database_->run("COMMIT"); !done) return fail(done.error());
  database_ = nullptr;
  return {};
}

}  // namespace hw::store
