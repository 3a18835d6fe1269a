// CallName: what a call is looked up by: its id, its trace, or the id that its caller gave it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "journal/call_codec.h"

namespace hw::journal {

// One text may be read in several ways. `text` outlives the name.
struct CallName {
  explicit CallName(std::string_view name);

  // A call may have this id or trace.
  bool may_be_id() const { return has_id || has_trace; }
  // The wall time in the id, in milliseconds; with may_be_id() only.
  int64_t id_ms() const;
  // As a caller's trace is in call_aliases.
  std::string alias() const { return has_trace ? trace.hex() : std::string(text); }
  // Whether a call of this key has the name.
  bool matches(const CallKey& key) const;

  std::string_view text;
  bool has_id = false, has_trace = false;
  TraceId trace;
  std::array<uint8_t, 16> id_bytes{};
};

}  // namespace hw::journal
