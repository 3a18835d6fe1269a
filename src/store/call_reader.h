// CallReader: looks up calls in the database, on a connection of its own.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/call_query.h"
#include "store/database.h"
#include "timeline/call.h"

namespace hw::store {

// Blocking; from any thread, one query at a time. Sees what was committed before the query began.
class CallReader {
 public:
  // The database must exist; it is opened at the first query, so that a gateway that is never asked
  // does not pay for the connection.
  explicit CallReader(std::string path) : path_(std::move(path)) {}

  // Calls with this id, client_request_id or trace id, latest first, at most CallQuery::kLimitMax.
  Result<std::vector<timeline::Call>> find(std::string_view id_or_alias);
  // A page of the log. kBadRequest where `before` is not in it.
  Result<CallPage> list(const CallQuery& query);

 private:
  // A call's place in the log: its block, and its rank in it, latest first.
  struct Spot {
    int64_t block = 0;
    size_t rank = 0;
  };
  Status open();
  Result<std::vector<int64_t>> blocks_with(std::string_view name);
  Result<std::string> block_data(int64_t block);
  Result<Spot> spot_of(std::string_view id);
  Result<int64_t> oldest_block(const CallQuery& query);
  Result<CallPage> collect(const CallQuery& query, const Spot& after, int64_t oldest);

  const std::string path_;
  std::mutex lock_;  // guards the connection
  std::unique_ptr<Database> database_;
};

}  // namespace hw::store
