// Finds where a field name or a field value ends, 16 bytes at a time where the machine can.
#pragma once

#include <array>

namespace hw::http {

// RFC 9110 §5.6.2 tchar.
inline constexpr std::array<bool, 256> kTokenChar = [] {
  std::array<bool, 256> token{};
  for (int c = '0'; c <= '9'; ++c) token[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) token[c] = token[c - 'a' + 'A'] = true;
  for (const char c : {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~'})
    token[static_cast<unsigned char>(c)] = true;
  return token;
}();

// Whether `c` may be in a token.
inline bool is_token_char(char c) {
  return kTokenChar[static_cast<unsigned char>(c)];
}

// The first character in [at, end) that is none of a token, or end.
const char* find_token_end(const char* at, const char* end);
// The first control character other than HTAB in [at, end), or end.
const char* find_control(const char* at, const char* end);

}  // namespace hw::http
