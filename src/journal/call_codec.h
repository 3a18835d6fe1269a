// The binary form of a call, in the journal and in the database: compact, versioned, bounded.
//
// A record begins with what the writer thread needs of it without reading on (CallKey): version,
// flags, id, arrival, end, aliases. Then come the fields of timeline::Call in the order of its
// declaration, numbers as varints, stamps as differences, frequent words as one byte.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "timeline/call.h"

namespace hw::journal {

// No record is larger; the buffer of encode_call() must be this long.
inline constexpr size_t kCallBytesMax = 96 * 1024;

// Writes `call` into `out` and returns the part that was used. What exceeds the limits of the
// format (texts of 4 KiB, 128 attempts, 64 skipped channels, 64 lossy fields) is cut; a call that
// is too large even so keeps 64 bytes of each text and no token times.
std::string_view encode_call(const timeline::Call& call, std::span<char> out);

// The call in `record`. kStore where it is damaged or of a newer version.
Result<timeline::Call> decode_call(std::string_view record);

// What finds a call again; texts point into the record.
struct CallKey {
  std::array<uint8_t, 16> id_bytes{};
  Nanos arrived_wall = 0;
  Nanos finished = -1;     // offset from arrival; -1: open
  bool own_trace = false;  // the caller gave a trace; otherwise it is the id's bytes
  TraceId trace;           // only with own_trace
  std::string_view client_request_id;

  // As an id again.
  RequestId id() const { return RequestId::from_bytes(id_bytes); }
  // The wall time in the id, in milliseconds.
  int64_t id_ms() const;
};

// The key of `record`; false where it is damaged.
bool peek_call(std::string_view record, CallKey& out);

// The last 64 bits of an id, which are random: enough to pair the begin of a call with its end.
uint64_t id_hash(const std::array<uint8_t, 16>& id_bytes);

}  // namespace hw::journal
