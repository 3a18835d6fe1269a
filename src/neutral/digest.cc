#include "neutral/digest.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace hw::translate {

// Two FNV-1a hashes with different bases.
void append_digest(std::string& out, std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001B3;
  for (uint64_t hash : {uint64_t{0xCBF29CE484222325}, uint64_t{0x9E3779B97F4A7C15}}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    std::array<char, kDigestBytes / 2> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
    out.append(digits.size() - static_cast<size_t>(end - digits.data()), '0');
    out.append(digits.data(), end);
  }
}

}  // namespace hw::translate
