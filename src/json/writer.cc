#include "json/writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/assert.h"
#include "base/text.h"
#include "json/utf8.h"

namespace hw::json {
namespace {

// Bytes that stand for themselves in a string: printable ASCII but the quote and the backslash.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool is_plain(char c) {
  return kPlain[static_cast<unsigned char>(c)];
}

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
  }
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u00";
  out += kHex[static_cast<unsigned char>(c) >> 4];
  out += kHex[c & 0xf];
}

// Appends what begins `text` and is not plain; returns how many bytes of it that was.
size_t append_special(std::string& out, std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) {
    append_escape(out, text.front());
    return 1;
  }
  const size_t bytes = utf8_sequence_bytes(text);
  if (bytes == 0) {
    out += "\xef\xbf\xbd";
    return 1;
  }
  out.append(text.substr(0, bytes));
  return bytes;
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_special(out, text));
  }
  out += '"';
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end.ptr);
}

void Writer::before_value() {
  if (depth_ == 0) {
    HW_ASSERT(first_);  // one value in all
  } else if ((is_object_ >> depth_ & 1) != 0) {
    HW_ASSERT(keyed_);
  } else if (!first_) {
    out_ += ',';
  }
  keyed_ = false;
  first_ = false;
}

void Writer::open(char bracket) {
  before_value();
  HW_ASSERT(depth_ < kDepthMax);
  ++depth_;
  const uint64_t bit = uint64_t{1} << depth_;
  is_object_ = bracket == '{' ? is_object_ | bit : is_object_ & ~bit;
  first_ = true;
  out_ += bracket;
}

void Writer::close(char bracket) {
  HW_ASSERT(depth_ > 0 && !keyed_);
  HW_ASSERT((is_object_ >> depth_ & 1) == (bracket == '}' ? 1 : 0));
  --depth_;
  first_ = false;
  out_ += bracket;
}

void Writer::key(std::string_view name) {
  HW_ASSERT((is_object_ >> depth_ & 1) != 0 && depth_ > 0 && !keyed_);
  if (!first_) out_ += ',';
  append_quoted(out_, name);
  out_ += ':';
  keyed_ = true;
  first_ = false;
}

void Writer::value(std::string_view text) {
  before_value();
  append_quoted(out_, text);
}

void Writer::value(bool boolean) {
  before_value();
  out_ += boolean ? "true" : "false";
}

void Writer::value(double number) {
  before_value();
  append_number(out_, number);
}

void Writer::value_signed(int64_t number) {
  before_value();
  append(out_, number);
}

void Writer::value_unsigned(uint64_t number) {
  before_value();
  append(out_, number);
}

void Writer::null() {
  before_value();
  out_ += "null";
}

void Writer::raw(std::string_view json) {
  before_value();
  out_.append(json);
}

}  // namespace hw::json
