#include "json/literal.h"

#include <algorithm>
#include <cstring>

namespace hw::json {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Digits at the start of `text` are taken off; false where there is none.
bool take_digits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count > 0;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

// The four hex digits at the start of `text`, or -1.
int32_t hex4(std::string_view text) {
  if (text.size() < 4) return -1;
  int32_t unit = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

// What a one-letter escape stands for, or NUL.
char plain_escape(char c) {
  switch (c) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '/':
      return '/';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
  }
  return '\0';
}

char* put_utf8(char* out, uint32_t point) {
  if (point < 0x80) {
    *out++ = static_cast<char>(point);
  } else if (point < 0x800) {
    *out++ = static_cast<char>(0xc0 | point >> 6);
    *out++ = static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    *out++ = static_cast<char>(0xe0 | point >> 12);
    *out++ = static_cast<char>(0x80 | (point >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (point & 0x3f));
  } else {
    *out++ = static_cast<char>(0xf0 | point >> 18);
    *out++ = static_cast<char>(0x80 | (point >> 12 & 0x3f));
    *out++ = static_cast<char>(0x80 | (point >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (point & 0x3f));
  }
  return out;
}

// Takes the `uXXXX` at the start of `rest`, with its other half where it is one of a pair.
// Returns the code point, or -1.
int32_t take_unicode(std::string_view& rest) {
  constexpr int32_t kReplacement = 0xfffd;
  const int32_t unit = hex4(rest.substr(1));
  rest.remove_prefix(unit < 0 ? 1 : 5);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit > 0xdbff || rest.size() < 6 || rest[0] != '\\' || rest[1] != 'u') return kReplacement;
  const int32_t low = hex4(rest.substr(2));
  if (low < 0xdc00 || low > 0xdfff) return kReplacement;
  rest.remove_prefix(6);
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

}  // namespace

bool is_number_literal(std::string_view text) {
  take(text, '-');
  if (!take(text, '0') && !take_digits(text)) return false;
  if (take(text, '.') && !take_digits(text)) return false;
  if (!text.empty() && (text.front() | 0x20) == 'e') {
    text.remove_prefix(1);
    if (!take(text, '+')) take(text, '-');
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

bool is_plain_literal(std::string_view text) {
  return is_number_literal(text) || text == "true" || text == "false" || text == "null";
}

bool is_string_literal(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  std::string_view rest = text.substr(1, text.size() - 2);
  for (;;) {
    const size_t slash = rest.find('\\');
    if (slash == rest.npos) return true;
    rest.remove_prefix(slash + 1);
    if (rest.empty()) return false;
    if (rest.front() == 'u' ? hex4(rest.substr(1)) < 0 : plain_escape(rest.front()) == '\0') {
      return false;
    }
    rest.remove_prefix(1);
  }
}

size_t unescape(std::string_view content, char* out) {
  char* const begin = out;
  std::string_view rest = content;
  for (;;) {
    const size_t plain = std::min(rest.find('\\'), rest.size());
    std::memcpy(out, rest.data(), plain);
    out += plain;
    rest.remove_prefix(plain);
    if (rest.empty()) return static_cast<size_t>(out - begin);
    rest.remove_prefix(1);
    if (rest.empty()) return kBadEscape;
    if (rest.front() == 'u') {
      const int32_t point = take_unicode(rest);
      if (point < 0) return kBadEscape;
      out = put_utf8(out, static_cast<uint32_t>(point));
      continue;
    }
    const char c = plain_escape(rest.front());
    if (c == '\0') return kBadEscape;
    *out++ = c;
    rest.remove_prefix(1);
  }
}

}  // namespace hw::json
