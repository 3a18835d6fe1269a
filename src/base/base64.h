// Base64 with the alphabet of URLs and without padding (RFC 4648 §5).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hw {

// How many characters `bytes` bytes become.
constexpr size_t base64url_size(size_t bytes) {
  return (bytes * 4 + 2) / 3;
}
void append_base64url(std::string& out, std::string_view bytes);
// Appends what `text` encodes; false where it is not what append_base64url() writes.
bool decode_base64url(std::string_view text, std::string& out);

}  // namespace hw
