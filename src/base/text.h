// Small text building without fmt, whose header would triple the compile time of a plain file.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hw {

// One part of a text onto `out`; numbers in decimal.
inline void append(std::string& out, std::string_view text) {
  out.append(text);
}
inline void append(std::string& out, char c) {
  out += c;
}
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void append(std::string& out, T value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end.ptr);
}

// The parts one after another: concat("took ", 12, " ms"). For messages, not for the data path:
// compilers are told that it seldom runs.
template <class... Parts>
[[gnu::cold]] std::string concat(const Parts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

// Frees the memory of `text`; assigning an empty string would keep it.
inline void release(std::string& text) {
  std::string().swap(text);
}

// ASCII case folding only, as HTTP field names need.
inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
bool equal_ignoring_case_of_one_size(std::string_view a, std::string_view b);
inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a.empty()) return true;
  return lower(a.front()) == lower(b.front()) && equal_ignoring_case_of_one_size(a, b);
}
// Whether a token of HTTP (a field name) is `wanted`, which is written small and has letters,
// digits and dashes only; then one bit is all that case makes. Inlined, so that comparing with a
// name in the source is a few instructions.
[[gnu::always_inline]] inline bool is_token_named(std::string_view token, std::string_view wanted) {
  constexpr uint64_t kSmall = 0x2020202020202020;
  const size_t size = wanted.size();
  if (token.size() != size) return false;
  uint64_t of_token, of_wanted;
  if (size < sizeof of_token) {
    for (size_t i = 0; i < size; ++i) {
      if ((token[i] | 0x20) != wanted[i]) return false;
    }
    return true;
  }
  for (size_t i = 0;; i += sizeof of_token) {
    const size_t at = i + sizeof of_token > size ? size - sizeof of_token : i;
    std::memcpy(&of_token, token.data() + at, sizeof of_token);
    std::memcpy(&of_wanted, wanted.data() + at, sizeof of_wanted);
    if ((of_token | kSmall) != of_wanted) return false;
    if (at + sizeof of_token == size) return true;
  }
}
// Whether `name` is `pattern`, or begins with what stands before a `*` at its end.
bool matches_pattern(std::string_view pattern, std::string_view name);
// A number with that many digits behind the point, "12.50".
std::string fixed(double value, int decimals);
// Without the blanks and tabs at both ends.
std::string_view trim(std::string_view text);
// All of `text` as a decimal number; false where it is none or does not fit.
template <std::integral T>
bool parse_number(std::string_view text, T& out) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && end.ec == std::errc() && end.ptr == text.data() + text.size();
}

// Reads all of `text` as a decimal number, "12", "0.5" or "1e3", whatever the locale. False, and
// `out` undefined, for anything else, "nan" and "inf" included.
inline bool parse_real(std::string_view text, double& out) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && end.ec == std::errc() && end.ptr == text.data() + text.size() &&
         out - out == 0;
}

}  // namespace hw
