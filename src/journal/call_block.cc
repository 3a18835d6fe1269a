#include "journal/call_block.h"

#include <algorithm>

#include "base/assert.h"
#include "base/varint.h"

namespace hw::journal {

void BlockBuilder::add(std::string_view record, const CallKey& key) {
  append_varint(data_, record.size());
  const int64_t ms = key.id_ms();
  entries_.push_back(
      {ms, static_cast<uint32_t>(data_.size()), static_cast<uint32_t>(record.size())});
  data_.append(record);
  last_ms_ = entries_.size() == 1 ? ms : std::max(last_ms_, ms);
  last_finish_ = std::max(last_finish_, key.arrived_wall + std::max<Nanos>(key.finished, 0));
  if (!key.client_request_id.empty()) given_names_.emplace_back(key.client_request_id);
  if (key.own_trace) given_names_.push_back(key.trace.hex());
}

void BlockBuilder::clear() {
  data_.clear();
  entries_.clear();
  given_names_.clear();
  last_ms_ = last_finish_ = 0;
}

int64_t BlockBuilder::first_ms() const {
  HW_ASSERT(!empty());
  int64_t first = last_ms_;
  for (const Entry& entry : entries_) {
    if (entry.ms >= last_ms_ - kBlockSpanMs) first = std::min(first, entry.ms);
  }
  return first;
}

std::vector<std::string> BlockBuilder::aliases() const {
  std::vector<std::string> names = given_names_;
  for (const Entry& entry : entries_) {
    if (entry.ms >= last_ms_ - kBlockSpanMs) continue;
    CallKey key;
    const bool whole = peek_call(std::string_view(data_).substr(entry.offset, entry.size), key);
    HW_ASSERT(whole);
    names.emplace_back(key.id().view());
  }
  return names;
}

bool next_in_block(std::string_view& data, std::string_view& record) {
  std::string_view rest = data;
  uint64_t size = 0;
  if (!read_varint(rest, size) || size > rest.size()) return false;
  record = rest.substr(0, static_cast<size_t>(size));
  data = rest.substr(static_cast<size_t>(size));
  return true;
}

}  // namespace hw::journal
