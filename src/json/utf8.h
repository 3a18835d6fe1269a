// Well-formed UTF-8 (Unicode §3.9, table 3-7), byte by byte, for error places and repair.
#pragma once

#include <cstddef>
#include <string_view>

namespace hw::json {

// Bytes of the well-formed sequence that `text` begins with, 1 to 4; 0 where there is none.
size_t utf8_sequence_bytes(std::string_view text);
// Length of the longest prefix that is well-formed.
size_t valid_utf8_prefix(std::string_view text);

}  // namespace hw::json
