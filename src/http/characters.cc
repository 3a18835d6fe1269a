#include "http/characters.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hw::http {
namespace {

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

#if defined(__SSE2__)
// Each byte of `bytes` that lies in [low, high]: all ones.
__m128i in_range(__m128i bytes, char low, char high) {
  const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(low));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(static_cast<char>(high - low))), above);
}
#endif

}  // namespace

// Nearly every name is letters, digits and dashes, which are looked at 16 at a time.
const char* find_token_end(const char* at, const char* end) {
#if defined(__SSE2__)
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

const char* find_control(const char* at, const char* end) {
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
  while (at < end && !is_control(*at)) ++at;
  return at;
}

}  // namespace hw::http
