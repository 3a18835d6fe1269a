// SHA-256 of a presented secret: all that Headway keeps of a key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hw::access {

// The 32 bytes of a SHA-256 (FIPS 180-4).
using Digest = std::array<uint8_t, 32>;

// The digest of `text`. Allocates nothing; about 0.1 µs for a key.
Digest sha256(std::string_view text);

// True where the two are equal, in a time that does not depend on where they differ.
bool equal_in_constant_time(const Digest& a, const Digest& b);

// 64 lower-case hex digits, for the store only; a digest is never shown.
std::string digest_hex(const Digest& digest);
// The digest in 64 hex digits of either case; nothing for any other text.
std::optional<Digest> parse_digest_hex(std::string_view hex);

}  // namespace hw::access
