#include "journal/call_name.h"

namespace hw::journal {
namespace {

std::array<uint8_t, 16> bytes_of(const TraceId& trace) {
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<uint8_t>(trace.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<uint8_t>(trace.low >> (56 - 8 * i));
  }
  return bytes;
}

}  // namespace

CallName::CallName(std::string_view name) : text(name) {
  RequestId id;
  has_trace = TraceId::parse(name, trace);
  has_id = RequestId::parse(name, id);
  if (has_id) id_bytes = id.bytes();
  // A trace that nobody gave is the id of its call.
  if (has_trace) id_bytes = bytes_of(trace);
}

int64_t CallName::id_ms() const {
  CallKey key;
  key.id_bytes = id_bytes;
  return key.id_ms();
}

bool CallName::matches(const CallKey& key) const {
  if (has_id && key.id_bytes == id_bytes) return true;
  if (has_trace && (key.own_trace ? key.trace == trace : key.id_bytes == id_bytes)) return true;
  return !key.client_request_id.empty() && key.client_request_id == text;
}

}  // namespace hw::journal
