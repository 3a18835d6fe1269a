#include "access/key_sources.h"

#include <doctest/doctest.h>

using namespace hw::access;
namespace store = hw::store;

namespace {

store::StoredKey stored(std::string_view secret, std::string name, store::KeyState state) {
  store::StoredKey out;
  out.id = "key_0123456789abcdef";
  out.name = std::move(name);
  out.sha256 = sha256(secret);
  out.state = state;
  out.models = {"m"};
  return out;
}

}  // namespace

TEST_CASE("declared and stored keys are in force together, each with its limits") {
  const DeclaredKey declared[] = {{"dev", "d", {"*"}}};
  const store::StoredKey made[] = {stored("s", "app", store::KeyState::kActive),
                                   stored("off", "old", store::KeyState::kDisabled)};
  const auto keys = make_key_snapshot(declared, made);
  REQUIRE(keys->size() == 3);
  CHECK(keys->find_secret("d")->name == "dev");
  CHECK(keys->find_secret("d")->id.empty());
  CHECK(keys->find_secret("s")->origin == KeyOrigin::kStored);
  CHECK(keys->find_secret("s")->models == std::vector<std::string>{"m"});
  CHECK_FALSE(keys->find_secret("s")->disabled);
  CHECK(keys->find_secret("off")->disabled);
}

TEST_CASE("a secret in both places belongs to the declared key") {
  const DeclaredKey declared[] = {{"dev", "same", {"*"}}};
  const store::StoredKey made[] = {stored("same", "app", store::KeyState::kDisabled)};
  const auto keys = make_key_snapshot(declared, made);
  CHECK(keys->size() == 1);
  CHECK(keys->find_secret("same")->name == "dev");
}
