// The keys in force: those that the configuration declares and those that were made at run time.
#pragma once

#include <memory>
#include <span>

#include "access/declared_key.h"
#include "access/keys.h"
#include "store/key_store.h"

namespace hw::access {

// One snapshot of both. Where one secret stands in both the declared key counts, since the operator
// wrote it down.
std::shared_ptr<const KeySnapshot> make_key_snapshot(std::span<const DeclaredKey> declared,
                                                     std::span<const store::StoredKey> stored);

}  // namespace hw::access
