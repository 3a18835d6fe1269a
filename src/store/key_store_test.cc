#include "store/key_store.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <thread>

#include "base/temp_folder.h"
#include "store/database.h"

namespace hw::store {
namespace {

const std::vector<std::string> kAll = {"*"};

std::unique_ptr<KeyStore> opened(const TempFolder& folder) {
  auto keys = KeyStore::open(folder.file("d.db"));
  REQUIRE(keys.has_value());
  return std::move(*keys);
}

TEST_CASE("a new key shows its secret once; only its digest is kept") {
  const TempFolder folder;
  std::string secret;
  {
    const auto keys = opened(folder);
    const auto created = keys->create("alice", {"gpt-4o", "claude-*"});
    REQUIRE(created.has_value());
    secret = created->secret;
    CHECK(secret.size() == 46);
    CHECK(secret.substr(0, 3) == "hw-");
    CHECK(secret.find_first_not_of(
              "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
          std::string::npos);
    CHECK(created->key.prefix == secret.substr(0, 8));
    CHECK(created->key.id.substr(0, 4) == "key_");
    CHECK(created->key.state == KeyState::kActive);
  }
  const auto listed = opened(folder)->list();
  REQUIRE(listed.has_value());
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().name == "alice");
  CHECK(listed->front().models == std::vector<std::string>{"gpt-4o", "claude-*"});
  CHECK(listed->front().created_wall > 1'600'000'000 * kSecond);
  CHECK(listed->front().sha256 != std::array<uint8_t, 32>{});
  for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    CHECK(bytes.find(secret) == std::string::npos);
  }
}

TEST_CASE("secrets and ids do not repeat") {
  const TempFolder folder;
  const auto keys = opened(folder);
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    const auto created = keys->create("key-" + std::to_string(i), kAll);
    REQUIRE(created.has_value());
    CHECK(created->key.models == std::vector<std::string>{"*"});
    seen.insert(created->secret);
    seen.insert(created->key.id);
  }
  CHECK(seen.size() == 100);
  CHECK(keys->list()->size() == 50);
}

TEST_CASE("a key is disabled, enabled and deleted by name or id") {
  const TempFolder folder;
  const auto keys = opened(folder);
  const auto created = keys->create("alice", kAll);
  REQUIRE(created.has_value());
  REQUIRE(keys->create("bob", kAll).has_value());
  CHECK(keys->set_state("alice", KeyState::kDisabled)->state == KeyState::kDisabled);
  CHECK(keys->list()->at(0).state == KeyState::kDisabled);
  CHECK(keys->list()->at(1).state == KeyState::kActive);
  CHECK(keys->set_state(created->key.id, KeyState::kActive).has_value());
  CHECK(keys->list()->at(0).state == KeyState::kActive);
  CHECK(keys->remove(created->key.id).has_value());
  CHECK(keys->list()->size() == 1);
  CHECK(keys->remove("alice").error().code == ErrorCode::kNotFound);
  CHECK(keys->set_state("alice", KeyState::kDisabled).error().code == ErrorCode::kNotFound);
  CHECK(keys->create("alice", kAll).has_value());  // the name is free again
}

TEST_CASE("names and models that make no sense are refused") {
  const TempFolder folder;
  const auto keys = opened(folder);
  REQUIRE(keys->create("alice", kAll).has_value());
  const auto refused = [&](std::string_view name, const std::vector<std::string>& models) {
    const auto created = keys->create(name, models);
    return !created.has_value() && created.error().code == ErrorCode::kBadRequest;
  };
  CHECK(refused("alice", kAll));
  for (const char* name : {"", "a\nb", "a b", "a/b", "a\"b", "a,b"}) CHECK(refused(name, kAll));
  CHECK(refused(std::string(65, 'x'), kAll));
  CHECK(refused("bob", {}));  // for no model
  CHECK(refused("bob", {""}));
  CHECK(refused("bob", {"a\nb"}));
  CHECK(refused("bob", std::vector<std::string>(257, "m")));
  CHECK(keys->list()->size() == 1);
  CHECK(keys->create("b\xc3\xb6"
                     "b.c_d-e+f@g",
                     kAll)
            .has_value());
}

TEST_CASE(
    "while another program holds the database a change is refused soon, and keys are listed") {
  const TempFolder folder;
  const auto keys = opened(folder);
  REQUIRE(keys->create("alice", kAll).has_value());
  auto other = Database::open(folder.file("d.db"), Database::Mode::kReadWrite);
  REQUIRE(other.has_value());
  {
    auto held = Transaction::begin(**other);
    REQUIRE(held.has_value());
    std::optional<Result<CreatedKey>> refused;
    std::thread change([&] { refused.emplace(keys->create("bob", kAll)); });
    CHECK(keys->list()->size() == 1);  // does not wait for the change
    change.join();
    REQUIRE_FALSE(refused->has_value());
    CHECK(refused->error().status() == 503);
    CHECK(refused->error().message.find("locked by another program") != std::string::npos);
    CHECK(refused->error().message.find("Nothing was changed") != std::string::npos);
  }
  CHECK(keys->create("bob", kAll).has_value());
}

}  // namespace
}  // namespace hw::store
