#include "base/text.h"

#include <cstdio>

#include <cstdint>
#include <cstring>

namespace hw {

namespace {

// Eight characters with their capitals made small. The sums carry into a byte's top bit where the
// character is at least 'A' or beyond 'Z'; bytes above 0x7f are no letters.
uint64_t lower_all(uint64_t word) {
  constexpr uint64_t kEach = 0x0101010101010101;
  constexpr uint64_t kTop = 0x80 * kEach;
  const uint64_t low_bits = word & ~kTop;
  const uint64_t from_a = low_bits + (0x80 - 'A') * kEach;
  const uint64_t beyond_z = low_bits + (0x80 - 'Z' - 1) * kEach;
  const uint64_t capitals = from_a & ~beyond_z & ~word & kTop;
  return word | capitals >> 2;
}

bool equal_eight(const char* a, const char* b) {
  uint64_t of_a, of_b;
  std::memcpy(&of_a, a, sizeof of_a);
  std::memcpy(&of_b, b, sizeof of_b);
  return of_a == of_b || lower_all(of_a) == lower_all(of_b);
}

}  // namespace

bool equal_ignoring_case_of_one_size(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  if (size < sizeof(uint64_t)) {
    for (size_t i = 0; i < size; ++i) {
      if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
  }
  for (size_t i = 0; i + sizeof(uint64_t) < size; i += sizeof(uint64_t)) {
    if (!equal_eight(a.data() + i, b.data() + i)) return false;
  }
  const size_t last = size - sizeof(uint64_t);  // overlaps the one before
  return equal_eight(a.data() + last, b.data() + last);
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace hw
