// KeyStore: keys made at run time, in the store's database. Secrets are kept as SHA-256 only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hw::store {

class Database;
class Transaction;

// Whether a key lets its owner in.
enum class KeyState : uint8_t { kActive, kDisabled };

// A key as it is kept. The secret itself is known to nobody but its owner.
struct StoredKey {
  std::string id;                    // "key_" and 16 characters; never reused
  std::string name;                  // unique among stored keys; shown in calls and logs
  std::array<uint8_t, 32> sha256{};  // of the whole secret, "hw-" included
  std::string prefix;                // the secret's first 8 characters, to recognise it by
  Nanos created_wall = 0;            // ns since 1970
  KeyState state = KeyState::kActive;
  std::vector<std::string> models;  // names it may ask for, one * at the end of each; {"*"}: all
};

// A new key with its secret, which is shown once and never again.
struct CreatedKey {
  StoredKey key;
  std::string secret;  // "hw-" and 43 characters of [0-9A-Za-z]: 256 bits
};

// Whether a key may have this name, declared or made at run time: 1 to 64 letters, digits, `.`,
// `_`,
// `-`, `+` or `@`, so that it needs no quoting in a log, a command or a URL. Letters of any script.
bool is_key_name(std::string_view name);

// Blocking; from any thread, changes one after the other. A change is on disk when the call
// returns; a gateway with the same database notices within a second (Store::on_keys_changed).
// Errors: kStore where the database fails or another program holds it for kBusyMs, kNotFound,
// kBadRequest for a name that is taken or bad.
class KeyStore {
 public:
  static constexpr size_t kModelsMax = 256;
  static constexpr int kKeysMax = 100'000;
  // How long a change waits for another program's lock: whoever asked waits for an answer.
  static constexpr int kBusyMs = 1'000;

  // Opens the database at `path` (made where it is missing, with all tables): for the command line.
  // A running gateway takes Store::keys().
  static Result<std::unique_ptr<KeyStore>> open(const std::string& path);
  ~KeyStore();

  // `name`: is_key_name() and not in use. `models`: one at least; {"*"}: all.
  Result<CreatedKey> create(std::string_view name, const std::vector<std::string>& models);
  // All keys, oldest first. Waits for no change.
  Result<std::vector<StoredKey>> list();
  // By id or by name.
  Result<StoredKey> set_state(std::string_view id_or_name, KeyState state);
  Status remove(std::string_view id_or_name);

 private:
  friend class Store;
  KeyStore(std::unique_ptr<Database> database, std::string path);
  Result<StoredKey> find(std::string_view id_or_name);
  Result<Transaction> begin_change();
  Status check_new(std::string_view name, const std::vector<std::string>& models);
  Status insert(const StoredKey& key);
  Status change(std::string_view sql, std::string_view id, int64_t value);

  const std::string path_;
  std::mutex lock_;  // guards the connection of changes
  std::unique_ptr<Database> database_;
  std::mutex reading_lock_;  // guards that of list(), made when it is first needed
  std::unique_ptr<Database> reading_;
  std::function<void()> changed_;  // called after each change
};

}  // namespace hw::store
