// Finds where a field name, a field value or a line ends, 16 bytes at a time where the machine can.
// Defined here because a head is a few dozen calls on a few bytes each.
#pragma once

#include <array>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

// Whether `c` is a control character other than HTAB.
inline bool is_control_char(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

#if defined(__SSE2__)
namespace characters_detail {
// Each byte of `bytes` that lies in [low, high]: all ones.
inline __m128i in_range(__m128i bytes, char low, char high) {
  const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(low));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(high - low))), above);
}
}  // namespace characters_detail
#endif

// The first character in [at, end) that is none of a token, or end. Nearly every name is letters,
// digits and dashes, which are looked at 16 at a time.
inline const char* find_token_end(const char* at, const char* end) {
#if defined(__SSE2__)
  using characters_detail::in_range;
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i letters = in_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z');
    const __m128i digits = in_range(bytes, '0', '9');
    const __m128i dashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-'));
    const int mask = _mm_movemask_epi8(_mm_or_si128(letters, _mm_or_si128(digits, dashes)));
    if (mask == 0xffff) {
      at += 16;
      continue;
    }
    at += __builtin_ctz(~static_cast<unsigned>(mask));
    if (!is_token_char(*at)) return at;
    ++at;
  }
#endif
  while (at < end && is_token_char(*at)) ++at;
  return at;
}

// The first control character other than HTAB in [at, end), or end.
inline const char* find_control(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i below_blank = _mm_set1_epi8(0x1f);
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7f);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, below_blank), bytes);
    const __m128i control =
        _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(bytes, tab), low), _mm_cmpeq_epi8(bytes, del));
    const int mask = _mm_movemask_epi8(control);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
    at += 16;
  }
#endif
  while (at < end && !is_control_char(*at)) ++at;
  return at;
}

// The first LF in [at, end), or end.
inline const char* find_line_feed(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i lf = _mm_set1_epi8('\n');
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, lf));
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
    at += 16;
  }
#endif
  while (at < end && *at != '\n') ++at;
  return at;
}

}  // namespace hw::http
