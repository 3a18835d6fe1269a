// Looks at every byte of a JSON text, for those who must know that a document is whole.
#pragma once

#include <string_view>

namespace hw::json {

// Containers nested deeper than this are refused (RFC 8259 §9 allows a limit).
inline constexpr int kDepthMax = 512;

// Whether `text` is one complete JSON object and nothing else (RFC 8259), UTF-8, every value looked
// at, at most kDepthMax deep. False for what was cut short.
bool is_json_object(std::string_view text);

}  // namespace hw::json
