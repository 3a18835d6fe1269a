#include "access/key_sources.h"

namespace hw::access {

std::shared_ptr<const KeySnapshot> make_key_snapshot(std::span<const DeclaredKey> declared,
                                                     std::span<const store::StoredKey> stored) {
  std::vector<KeyEntry> entries;
  entries.reserve(declared.size() + stored.size());
  for (const DeclaredKey& one : declared) {
    KeyEntry entry;
    entry.digest = sha256(one.secret);
    entry.key.name = one.name;
    entry.key.models = one.models;
    entries.push_back(std::move(entry));
  }
  for (const store::StoredKey& one : stored) {
    KeyEntry entry;
    entry.digest = one.sha256;
    entry.key.id = one.id;
    entry.key.name = one.name;
    entry.key.models = one.models;
    entry.key.disabled = one.state == store::KeyState::kDisabled;
    entry.key.origin = KeyOrigin::kStored;
    entries.push_back(std::move(entry));
  }
  return std::make_shared<const KeySnapshot>(std::move(entries));
}

}  // namespace hw::access
