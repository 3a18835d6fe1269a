// Settings of the store, `[store]` in headway.toml, each with its default and its reason.
#pragma once

#include <cstdint>
#include <string>

#include "journal/faults.h"

namespace hw::store {

// `[store]`.
struct StoreOptions {
  // The SQLite database. Its folder is made where it is missing; the journal lies beside it, in
  // `<path without suffix>.journal/`.
  std::string path = "data/headway.db";
  // Older calls are pruned; 0: never. A month covers one billing period.
  int keep_days = 30;
  // The oldest calls are pruned when the database grows past this; 0: no limit. At 300 bytes a call
  // this is some 30 million calls.
  uint64_t bytes_max = 10ull << 30;
  // Set aside on disk beforehand, for all loops together, so that a full disk or a locked database
  // loses nothing until it is used up: about 200,000 calls.
  uint64_t journal_bytes = 64ull << 20;
  // One JSON line for each finished call: a path, or "-" for standard output. Empty: none, since
  // the database has every call.
  std::string access_log;
  // Tests only: makes chosen operations fail (faults.h). Not owned.
  journal::FaultSeam* faults = nullptr;
};

}  // namespace hw::store
