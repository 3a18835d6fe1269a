#include "store/key_store.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/assert.h"
#include "base/random.h"
#include "base/text.h"
#include "store/database.h"
#include "store/schema.h"

namespace hw::store {
namespace {

constexpr std::string_view kAlphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr size_t kSecretDigits = 43;  // of 62 values each: 256 bits
constexpr size_t kIdDigits = 16;      // 95 bits
constexpr size_t kPrefixBytes = 8;
constexpr size_t kModelBytesMax = 256;

constexpr char kColumns[] = "id, name, sha256, prefix, created, disabled, models";

// Digits drawn evenly: bytes of 248 and above would favour the first ones and are left out.
std::string random_digits(size_t count) {
  std::string digits;
  while (digits.size() < count) {
    unsigned char drawn[64];
    secure_random(drawn, sizeof drawn);
    for (const unsigned char byte : drawn) {
      if (byte >= 248 || digits.size() == count) continue;
      digits += kAlphabet[byte % kAlphabet.size()];
    }
  }
  return digits;
}

std::array<uint8_t, 32> sha256(std::string_view text) {
  std::array<uint8_t, 32> digest{};
  unsigned size = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  HW_ASSERT(done == 1 && size == digest.size());
  return digest;
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) != 0x7f;
  });
}

std::string_view as_view(const std::array<uint8_t, 32>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string joined(const std::vector<std::string>& models) {
  std::string lines;
  for (const std::string& model : models) {
    if (!lines.empty()) lines += '\n';
    lines += model;
  }
  return lines;
}

std::vector<std::string> split(std::string_view lines) {
  std::vector<std::string> models;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    models.emplace_back(lines.substr(0, end));
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
  }
  return models;
}

StoredKey key_of(const Statement& row) {
  StoredKey key;
  key.id = row.text(0);
  key.name = row.text(1);
  const std::string_view digest = row.blob(2);
  if (digest.size() == key.sha256.size()) {
    std::copy(digest.begin(), digest.end(), key.sha256.begin());
  }
  key.prefix = row.text(3);
  key.created_wall = row.integer(4);
  key.state = row.integer(5) != 0 ? KeyState::kDisabled : KeyState::kActive;
  key.models = split(row.text(6));
  return key;
}

}  // namespace

bool is_key_name(std::string_view name) {
  constexpr size_t kBytesMax = 64;
  return !name.empty() && name.size() <= kBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-' || c == '+' || c == '@' ||
                  static_cast<unsigned char>(c) >= 0x80;
         });
}

KeyStore::KeyStore(std::unique_ptr<Database> database, std::string path)
    : path_(std::move(path)), database_(std::move(database)) {
  database_->set_busy_timeout_ms(kBusyMs);
}
KeyStore::~KeyStore() = default;

Result<std::unique_ptr<KeyStore>> KeyStore::open(const std::string& path) {
  Result<std::unique_ptr<Database>> database = open_store_database(path);
  if (!database) return fail(database.error());
  return std::unique_ptr<KeyStore>(new KeyStore(std::move(*database), path));
}

Status KeyStore::check_new(std::string_view name, const std::vector<std::string>& models) {
  if (!is_key_name(name)) {
    return fail(ErrorCode::kBadRequest,
                "A key's name is 1 to 64 letters, digits, `.`, `_`, `-`, `+` or `@`.");
  }
  if (models.empty()) {
    return fail(ErrorCode::kBadRequest,
                "A key for no model would be of no use: name one at least, or \"*\" for all.");
  }
  if (models.size() > kModelsMax) {
    return fail(ErrorCode::kBadRequest,
                concat("A key can be limited to ", kModelsMax, " models at most."));
  }
  for (const std::string& model : models) {
    if (!model.empty() && model.size() <= kModelBytesMax && printable(model)) continue;
    return fail(ErrorCode::kBadRequest,
                concat("A model's name is 1 to ", kModelBytesMax, " printable bytes long."));
  }
  const Result<int64_t> count = database_->number("SELECT count(*) FROM keys");
  if (!count) return fail(count.error());
  if (*count >= kKeysMax) {
    return fail(ErrorCode::kBadRequest,
                concat("There are ", kKeysMax, " keys, which is the most."));
  }
  if (find(name).has_value()) {
    return fail(ErrorCode::kBadRequest, concat("There is a key named ", name, " already."));
  }
  return {};
}

Result<CreatedKey> KeyStore::create(std::string_view name, const std::vector<std::string>& models) {
  const std::lock_guard guard(lock_);
  if (Status fine = check_new(name, models); !fine) return fail(fine.error());
  CreatedKey created;
  created.secret = "hw-" + random_digits(kSecretDigits);
  StoredKey& key = created.key;
  key.id = "key_" + random_digits(kIdDigits);
  key.name = name;
  key.sha256 = sha256(created.secret);
  key.prefix = created.secret.substr(0, kPrefixBytes);
  key.created_wall = wall_ns();
  key.models = models;
  if (Status inserted = insert(key); !inserted) return fail(inserted.error());
  return created;
}

// Where another program has the lock for too long, whoever asked is told what that means.
Result<Transaction> KeyStore::begin_change() {
  Result<Transaction> transaction = Transaction::begin(*database_);
  if (transaction) return transaction;
  return fail(transaction.error().code,
              concat(transaction.error().message, " Nothing was changed; try again in a moment."));
}

Status KeyStore::insert(const StoredKey& key) {
  Result<Transaction> transaction = begin_change();
  if (!transaction) return fail(transaction.error());
  Result<Statement> row = database_->prepare(concat("INSERT INTO keys(", std::string_view(kColumns),
                                                    ") VALUES(?1, ?2, ?3, ?4, ?5, 0, ?6)"));
  if (!row) return fail(row.error());
  const std::string models = joined(key.models);
  row->bind_text(1, key.id).bind_text(2, key.name).bind_blob(3, as_view(key.sha256));
  row->bind_text(4, key.prefix).bind(5, key.created_wall).bind_text(6, models);
  if (Status done = row->run(); !done) return done;
  constexpr char kRaise[] = "UPDATE facts SET value = value + 1 WHERE name = 'keys_version'";
  if (Status raised = database_->run(kRaise); !raised) return raised;
  if (Status done = transaction->commit(); !done) return done;
  if (changed_ != nullptr) changed_();
  return {};
}

Result<std::vector<StoredKey>> KeyStore::list() {
  const std::lock_guard guard(reading_lock_);
  if (reading_ == nullptr) {
    Result<std::unique_ptr<Database>> opened = Database::open(path_, Database::Mode::kReadOnly);
    if (!opened) return fail(opened.error());
    reading_ = std::move(*opened);
    reading_->set_busy_timeout_ms(kBusyMs);
  }
  Result<Statement> query = reading_->prepare(
      concat("SELECT ", std::string_view(kColumns), " FROM keys ORDER BY created, id"));
  if (!query) return fail(query.error());
  std::vector<StoredKey> keys;
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) return fail(row.error());
    if (!*row) return keys;
    keys.push_back(key_of(*query));
  }
}

Result<StoredKey> KeyStore::find(std::string_view id_or_name) {
  Result<Statement> query = database_->prepare(
      concat("SELECT ", std::string_view(kColumns), " FROM keys WHERE id = ?1 OR name = ?1"));
  if (!query) return fail(query.error());
  const Result<bool> row = query->bind_text(1, id_or_name).step();
  if (!row) return fail(row.error());
  if (!*row) return fail(ErrorCode::kNotFound, concat("There is no key ", id_or_name, "."));
  return key_of(*query);
}

// Runs `sql` with the key's id as ?1 and `value` as ?2, and tells other processes.
Status KeyStore::change(std::string_view sql, std::string_view id, int64_t value) {
  Result<Transaction> transaction = begin_change();
  if (!transaction) return fail(transaction.error());
  Result<Statement> update = database_->prepare(sql);
  if (!update) return fail(update.error());
  update->bind_text(1, id).bind(2, value);
  if (Status done = update->run(); !done) return done;
  constexpr char kRaise[] = "UPDATE facts SET value = value + 1 WHERE name = 'keys_version'";
  if (Status raised = database_->run(kRaise); !raised) return raised;
  if (Status done = transaction->commit(); !done) return done;
  if (changed_ != nullptr) changed_();
  return {};
}

Result<StoredKey> KeyStore::set_state(std::string_view id_or_name, KeyState state) {
  const std::lock_guard guard(lock_);
  Result<StoredKey> key = find(id_or_name);
  if (!key) return key;
  const Status changed = change("UPDATE keys SET disabled = ?2 WHERE id = ?1", key->id,
                                state == KeyState::kDisabled ? 1 : 0);
  if (!changed) return fail(changed.error());
  key->state = state;
  return key;
}

Status KeyStore::remove(std::string_view id_or_name) {
  const std::lock_guard guard(lock_);
  const Result<StoredKey> key = find(id_or_name);
  if (!key) return fail(key.error());
  return change("DELETE FROM keys WHERE id = ?1 AND ?2 = 0", key->id, 0);
}

}  // namespace hw::store
