#include "config/text_width.h"

#include <cstdint>

namespace hw::config {
namespace {

struct Character {
  uint32_t code = 0;
  size_t size = 1;     // bytes
  bool valid = false;  // well-formed UTF-8 (RFC 3629)
};

Character first_of(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  Character out;
  if (lead < 0x80) return {lead, 1, true};
  if (lead >= 0xc2 && lead <= 0xdf) out.size = 2, out.code = lead & 0x1fu;
  if (lead >= 0xe0 && lead <= 0xef) out.size = 3, out.code = lead & 0x0fu;
  if (lead >= 0xf0 && lead <= 0xf4) out.size = 4, out.code = lead & 0x07u;
  if (out.size == 1 || text.size() < out.size) return {lead, 1, false};
  for (size_t i = 1; i < out.size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    out.code = out.code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong =
      (out.size == 3 && out.code < 0x800) || (out.size == 4 && out.code < 0x10000);
  const bool surrogate = out.code >= 0xd800 && out.code <= 0xdfff;
  if (overlong || surrogate || out.code > 0x10ffff) return {lead, 1, false};
  out.valid = true;
  return out;
}

struct Range {
  uint32_t first, last;
};
// Unicode TR 11: the blocks of class W and F that occur in practice.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                           {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                           {0xff01, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                           {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
constexpr Range kZero[] = {{0x0000, 0x001f}, {0x007f, 0x009f}, {0x0300, 0x036f}, {0x200b, 0x200f},
                           {0x202a, 0x202e}, {0x2060, 0x2064}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}};

template <size_t N>
bool in(const Range (&ranges)[N], uint32_t code) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

int width_of(const Character& character) {
  if (!character.valid) return 1;
  if (in(kZero, character.code)) return 0;
  return in(kWide, character.code) ? 2 : 1;
}

}  // namespace

int display_width(std::string_view text) {
  int out = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    out += width_of(character);
    text.remove_prefix(character.size);
  }
  return out;
}

std::string pad_right(std::string_view text, int columns) {
  const int missing = columns - display_width(text);
  return std::string(text) + std::string(missing > 0 ? static_cast<size_t>(missing) : 0, ' ');
}

std::string pad_left(std::string_view text, int columns) {
  const int missing = columns - display_width(text);
  return std::string(missing > 0 ? static_cast<size_t>(missing) : 0, ' ') + std::string(text);
}

std::string cut_to(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  std::string out;
  int used = 1;  // for the ellipsis
  while (!text.empty()) {
    const Character character = first_of(text);
    used += width_of(character);
    if (used > columns) break;
    out += text.substr(0, character.size);
    text.remove_prefix(character.size);
  }
  return out + "…";
}

std::vector<std::string> wrap(std::string_view text, int columns) {
  std::vector<std::string> lines;
  std::string line, word;
  const auto flush = [&] {
    if (!line.empty() && display_width(line) + display_width(word) > columns) {
      while (line.ends_with(' ')) line.pop_back();
      lines.push_back(std::move(line));
      line.clear();
    }
    line += word;
    word.clear();
  };
  while (!text.empty()) {
    const Character character = first_of(text);
    const bool wide = width_of(character) == 2;
    const bool blank = character.code == ' ';
    // A full-width comma or stop stays with what is before it.
    const bool closing = character.code == 0xff0c || character.code == 0x3002 ||
                         character.code == 0xff1b || character.code == 0xff09 ||
                         character.code == 0x3001 || character.code == 0xff1a;
    if (wide && !closing) flush();
    if (blank) {
      flush();
      if (!line.empty()) line += ' ';
    } else {
      word += text.substr(0, character.size);
    }
    text.remove_prefix(character.size);
  }
  flush();
  while (line.ends_with(' ')) line.pop_back();
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = first_of(text);
    const bool control = character.code < 0x20 ||
                         (character.code >= 0x7f && character.code < 0xa0) ||
                         (character.code >= 0x202a && character.code <= 0x202e);
    if (character.valid && !control) {
      out += text.substr(0, character.size);
    } else {
      out += '?';
    }
    text.remove_prefix(character.size);
  }
  return out;
}

}  // namespace hw::config
