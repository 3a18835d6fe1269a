// Digest: a short word that stands for a long text, so that equal texts stay equal and different
// ones do not meet. Not for secrets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hw::translate {

// How many characters a digest has: 128 bits in hexadecimal digits.
inline constexpr size_t kDigestBytes = 32;
void append_digest(std::string& out, std::string_view text);

}  // namespace hw::translate
