// A block: the records of many calls in one row of the database, since a row for each would cost
// more than the call itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "journal/call_codec.h"

namespace hw::journal {

// Calls that arrived longer before the latest arrival of their block than this are found by an
// alias instead of by the block's range of times, so that a range stays narrow.
inline constexpr int64_t kBlockSpanMs = 60'000;

// Collects records. Reused: clear() keeps the memory.
class BlockBuilder {
 public:
  // A block with this many bytes or calls is full; one more record may go in.
  static constexpr size_t kBytesMax = 256 * 1024;
  static constexpr size_t kCallsMax = 4'000;

  // Takes a call, as encode_call() wrote it.
  void add(std::string_view record, const CallKey& key);
  bool empty() const { return entries_.empty(); }
  // Reached kBytesMax or kCallsMax: time to store it.
  bool full() const { return data_.size() >= kBytesMax || entries_.size() >= kCallsMax; }
  size_t count() const { return entries_.size(); }
  // Drops everything.
  void clear();

  // The columns of the row (schema.cc). Precondition: not empty.
  const std::string& data() const { return data_; }
  int64_t first_ms() const;
  int64_t last_ms() const { return last_ms_; }
  int64_t last_finish() const { return last_finish_; }
  // Under which other names calls of this block are looked up.
  std::vector<std::string> aliases() const;

 private:
  struct Entry {
    int64_t ms;
    uint32_t offset;  // of the record in data_
    uint32_t size;
  };
  std::string data_;
  std::vector<Entry> entries_;
  std::vector<std::string> given_names_;
  int64_t last_ms_ = 0;
  int64_t last_finish_ = 0;
};

// Takes the next record off the front of a block's data; false at its end or where it is damaged.
bool next_in_block(std::string_view& data, std::string_view& record);

}  // namespace hw::journal
