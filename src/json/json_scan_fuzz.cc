// The JSON scanner against a plain recursive parser: the same texts are objects, a walk over one
// finds no fault, and writing what was read gives an equal document.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "json/check.h"
#include "json/scan.h"
#include "json/splice.h"
#include "json/utf8.h"
#include "json/writer.h"

namespace hw::json {
namespace {

// RFC 8259 by recursive descent, with nothing shared with the scanner but UTF-8.
class Reference {
 public:
  explicit Reference(std::string_view text) : text_(text) {}

  bool is_object() {
    blanks();
    if (peek() != '{' || !value(1)) return false;
    blanks();
    return at_ == text_.size() && valid_utf8_prefix(text_) == text_.size();
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (take(' ') || take('\t') || take('\n') || take('\r')) {
    }
  }
  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool digits() {
    const size_t begin = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > begin;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }
  bool escape() {
    const char c = peek();
    ++at_;
    if (c != 'u') return c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string::npos;
    for (int i = 0; i < 4; ++i) {
      if (std::string_view("0123456789abcdefABCDEF").find(peek()) == std::string::npos)
        return false;
      if (at_ >= text_.size()) return false;
      ++at_;
    }
    return true;
  }
  bool value(int depth) {
    blanks();
    const char c = peek();
    if (c == '{' || c == '[') return depth <= kDepthMax && container(c == '{', depth);
    if (c == '"') return string();
    return word("true") || word("false") || word("null") || number();
  }
  bool container(bool is_object, int depth) {
    ++at_;
    const char close = is_object ? '}' : ']';
    blanks();
    if (take(close)) return true;
    for (;;) {
      blanks();
      if (is_object && !string()) return false;
      blanks();
      if (is_object && !take(':')) return false;
      if (!value(depth + 1)) return false;
      blanks();
      if (take(close)) return true;
      if (!take(',')) return false;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Writes again what a walk reads.
void rewrite(Value value, Writer& writer) {
  switch (value.kind()) {
    case Kind::kNull:
      return writer.null();
    case Kind::kBool:
      return writer.value(value.boolean().value());
    case Kind::kNumber:
      return writer.raw(value.raw());
    case Kind::kString:
      return writer.value(value.text().value());
    case Kind::kArray:
      writer.begin_array();
      value.array().each([&](Value element) { rewrite(element, writer); });
      return writer.end_array();
    case Kind::kObject:
      writer.begin_object();
      value.object().each([&](std::string_view key, Value field) {
        writer.key(key);
        rewrite(field, writer);
      });
      return writer.end_object();
  }
}

int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

// Every getter on everything that a broken text still shows.
size_t read_all(Value value, int depth) {
  size_t sum = value.range().length + value.raw().size() + (value.has_text() ? 1 : 0);
  sum += value.text_or("").size() + static_cast<size_t>(value.integer().value_or(0) & 1);
  sum += value.number().has_value() + value.boolean().value_or(false) + value.array().count();
  if (depth == 0) return sum;
  value.object().each(
      [&](std::string_view key, Value field) { sum += key.size() + read_all(field, depth - 1); });
  value.array().each([&](Value element) { sum += read_all(element, depth - 1); });
  return sum;
}

void check_valid(std::string_view text) {
  Document document;
  HW_ASSERT(document.open(text).has_value());
  if (depth_of(text) >= Writer::kDepthMax) return;
  std::string once;
  Writer writer(once);
  const Range all = document.root().range();
  Splice splice;
  writer.begin_object();
  document.root().each([&](std::string_view key, Value value) {
    writer.key(key);
    rewrite(value, writer);
    if (splice.count() < kEditsMax) splice.replace(value.range(), std::string(value.raw()));
  });
  writer.end_object();
  HW_ASSERT(document.finish().has_value());
  HW_ASSERT(is_json_object(text.substr(all.offset, all.length)));
  HW_ASSERT(splice.apply(text) == text);
  HW_ASSERT(is_json_object(once));
  Document again;
  HW_ASSERT(again.open(once).has_value());
  std::string twice;
  Writer second(twice);
  second.begin_object();
  again.root().each([&](std::string_view key, Value value) {
    second.key(key);
    rewrite(value, second);
  });
  second.end_object();
  HW_ASSERT(once == twice);
}

}  // namespace
}  // namespace hw::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw::json;
  const std::vector<char> copy(data, data + size);  // ends where the text ends, for ASan
  const std::string_view text(copy.data(), copy.size());
  const bool valid = Reference(text).is_object();
  HW_ASSERT(is_json_object(text) == valid);
  if (valid) check_valid(text);
  Document document;
  if (document.open(text)) {
    size_t sum = 0;
    document.root().each([&](std::string_view, Value value) { sum += read_all(value, 4); });
    HW_ASSERT(sum < SIZE_MAX);
  }
  const hw::Status finished = document.finish();
  HW_ASSERT(finished.has_value() || !valid);
  return 0;
}
