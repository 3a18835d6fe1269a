// The tables of the store's database and how older ones become the present ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/database.h"

namespace hw::store {

// PRAGMA user_version of a database that this program writes.
inline constexpr int kSchemaVersion = 1;

// Brings the tables to kSchemaVersion, each step in a transaction, forward only. kStore where the
// database is of a newer program: it is left as it is, and the message says so.
Status migrate(Database& database);

// The random number that a database was given when it was made; ties journals to it.
Result<std::array<uint8_t, 16>> store_identity(Database& database);

// Opens `path` for writing, with its folder, migrated.
Result<std::unique_ptr<Database>> open_store_database(const std::string& path);

}  // namespace hw::store
