// The index of a JSON text: where each bracket, comma, colon, string and literal begins.
//
// simdjson's first stage makes it (SIMD, chosen at run time) and checks on the way that the text is
// UTF-8, that strings are closed and that none holds a bare control character. It reads no byte
// behind the text, so no padding is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hw::json {

// Longest text that can be indexed: places are 32 bits wide.
inline constexpr size_t kTextBytesMax = 0xffffff00;

// A text with its index. Refers to both.
struct Tokens {
  std::string_view text;
  const uint32_t* offsets = nullptr;
  uint32_t count = 0;

  // First byte of a token; NUL behind the last one.
  char at(uint32_t token) const { return token < count ? text[offsets[token]] : '\0'; }
  // Where a token begins; the end of the text behind the last one.
  size_t offset(uint32_t token) const { return token < count ? offsets[token] : text.size(); }
  // A string or literal without the blanks behind it. Precondition: token < count.
  std::string_view slice(uint32_t token) const {
    const size_t begin = offsets[token];
    size_t end = offset(token + 1);
    while (end > begin + 1 && is_blank(text[end - 1])) --end;
    return {text.data() + begin, end - begin};
  }
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
};

// Why a text has no index.
enum class TokenFault : uint8_t { kNone, kEmpty, kTooLong, kNotUtf8, kOpenString, kControl };

// The memory that an index needs, reused from text to text.
struct TokenIndex;

// Takes one of this thread's, or a new one. Never null.
TokenIndex* borrow_token_index();
// Gives it back. Those grown large are freed, so that one large body does not stay in memory.
void return_token_index(TokenIndex* index);

// Indexes `text`; `out` is valid until `index` is used again or returned.
TokenFault index_tokens(TokenIndex& index, std::string_view text, Tokens& out);

// `bytes` of memory that stay where they are until the index is used again or returned.
char* scratch(TokenIndex& index, size_t bytes);

}  // namespace hw::json
