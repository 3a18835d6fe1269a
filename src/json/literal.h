// The grammar of JSON's scalars (RFC 8259 §3, §6, §7), one literal at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hw::json {

// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_number_literal(std::string_view text);
// A number, true, false or null.
bool is_plain_literal(std::string_view text);
// Quotes at both ends and only valid escapes between them. What stands between is already known to
// hold no bare quote and no control character (tokens.h).
bool is_string_literal(std::string_view text);

// Undoes the escapes of what stands between the quotes. Writes at most content.size() bytes at
// `out` and gives their number, or nullopt-like kBadEscape. \uD800 to \uDFFF that do not pair
// become U+FFFD, since JavaScript clients cut strings in the middle of a pair and send the halves.
inline constexpr size_t kBadEscape = static_cast<size_t>(-1);
size_t unescape(std::string_view content, char* out);

}  // namespace hw::json
