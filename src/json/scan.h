// Reads a JSON object in place: fields by iteration, values as views and byte ranges, no tree.
//
// A Document indexes the text once (simdjson's first stage: SIMD, checks UTF-8) and hands out
// Object, Array and Value, which are positions in that index: they cost nothing to copy, may be
// read in any order and more than once, and what nobody reads is skipped without being looked at.
//
//   json::Document document;
//   if (Status status = document.open(text); !status) return fail(status.error());
//   document.root().each([&](std::string_view key, json::Value value) {
//     if (key == "model") model = value.text_or("");
//     else if (key == "usage") value.object().each(...);
//   });
//   if (Status status = document.finish(); !status) return fail(status.error());
//
// Kinds are taken as they come: the getter of another kind gives nullopt, object() and array() of
// anything else (null too) are empty, because `"choices": null` must break nobody. Syntax is not:
// the first fault met sticks to the Document, ends every loop, and finish() tells it with its
// place. Parts that are skipped are checked for UTF-8 and closed strings only; is_json_object()
// looks at everything.
//
// A key that comes twice is handed out twice. Who keeps the last one does as most parsers do; who
// decides about access by a field must treat a second one as an error or rewrite both.
//
// One thread at a time. Documents may be nested (JSON inside a string of JSON). Views and positions
// live as long as both the text and the Document do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "json/tokens.h"

namespace hw::json {

class Array;
class Document;
class Object;

// What a value is.
enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

// Bytes [offset, offset + length) of the document's text.
struct Range {
  size_t offset = 0;
  size_t length = 0;
};

// One value of an open document. A default one reads as null with an empty range.
class Value {
 public:
  Value() = default;

  // By the first byte. What is no JSON at all (`nope`) sets the document's fault and reads as null.
  Kind kind() const;
  bool is_null() const { return kind() == Kind::kNull; }

  // The string without quotes and escapes; a lone surrogate becomes U+FFFD. No copy is made unless
  // there are escapes. A bad escape sets the document's fault.
  std::optional<std::string_view> text() const;
  std::string_view text_or(std::string_view otherwise) const { return text().value_or(otherwise); }
  // Whether this is a string of at least one byte; cheaper than text(), looks at no escape.
  bool has_text() const;
  std::optional<bool> boolean() const;
  // A number that is an integer in int64, also when written 12.0 or 1.2e1. Others: nullopt.
  std::optional<int64_t> integer() const;
  // Any number, the nearest double.
  std::optional<double> number() const;
  // The members; empty where this is not an object / array.
  inline Object object() const;
  inline Array array() const;

  // Where the value stands in the text, quotes and brackets included. Walks a container to its end.
  Range range() const;
  // The bytes of range().
  std::string_view raw() const;

 private:
  friend class Array;
  friend class Document;
  friend class Object;
  Value(Document* document, uint32_t token) : document_(document), token_(token) {}

  Document* document_ = nullptr;
  uint32_t token_ = 0;
};

// The fields of an object, one after another.
class Object {
 public:
  Object() = default;

  // The next field, key unescaped; false at the end or when the document has a fault.
  bool next(std::string_view& key, Value& value);
  // Calls visit(key, value) for each field that is left.
  template <class Visit>
  void each(Visit&& visit) {
    std::string_view key;
    Value value;
    while (next(key, value)) visit(key, value);
  }
  // The last field of that name, looked for among all fields from the first; null where there is
  // none. For a look-up or two: each walks the object.
  Value find(std::string_view name) const;
  // The object in the text, braces included; a field may be inserted at offset + 1. Empty for the
  // object of something that is none.
  Range range() const;
  // Where its brace is in the text.
  size_t offset() const;
  // Whether it has no field.
  bool empty() const;

 private:
  friend class Document;
  friend class Value;
  bool next_at_sight(std::string_view& key, Value& value);
  bool next_with_care(std::string_view& key, Value& value);
  Object(Document* document, uint32_t begin) : document_(document), begin_(begin), at_(begin) {}

  Document* document_ = nullptr;
  uint32_t begin_ = 0;  // token of the brace
  uint32_t at_ = 0;     // token of the last value given; begin_ before the first
};

// The elements of an array, one after another.
class Array {
 public:
  Array() = default;

  // The next element; false at the end or when the document has a fault.
  bool next(Value& value);
  // Calls visit(value) for each element that is left.
  template <class Visit>
  void each(Visit&& visit) {
    Value value;
    while (next(value)) visit(value);
  }
  // How many elements there are in all. Walks the array.
  size_t count() const;
  // The first element; null where there is none.
  Value first() const;
  // The array in the text, brackets included. Empty for the array of something that is none.
  Range range() const;

 private:
  friend class Value;
  Array(Document* document, uint32_t begin) : document_(document), begin_(begin), at_(begin) {}

  Document* document_ = nullptr;
  uint32_t begin_ = 0;
  uint32_t at_ = 0;
};

// The text of one JSON object while it is being read. Make it on the stack for one reading: it
// borrows a per-thread index and gives it back. May be opened again; that ends every earlier view.
class Document {
 public:
  // `blame` is the code of every error it reports: kBadRequest for what a client sent,
  // kUpstreamDialect for an answer.
  explicit Document(ErrorCode blame = ErrorCode::kBadRequest) : blame_(blame) {}
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // Indexes `text`, which must stay where it is. Fails when it is empty, is not an object (first
  // and last token are looked at), is not UTF-8, has a string without end, or is too long.
  Status open(std::string_view text);

  // The outermost object; an empty one when open() failed.
  Object root();

  // Reads on to the end: the fault met so far, or a brace that is missing, or text after the end.
  Status finish();

  // No fault so far.
  bool ok() const { return fault_ == nullptr; }
  // Error of the first fault: what, and at which byte. Precondition: !ok().
  Error error() const;

 private:
  friend class Array;
  friend class Object;
  friend class Value;

  uint32_t skip(uint32_t token);
  uint32_t skip_container(uint32_t token);
  uint32_t step(uint32_t begin, uint32_t at, char close);
  std::string_view string_content(uint32_t token);
  std::string_view unescape(std::string_view content, uint32_t token);
  std::string_view unescape_slowly(std::string_view content, uint32_t token);
  bool check_number(std::string_view literal, uint32_t token);
  bool is_value(uint32_t token);
  Range container_range(uint32_t begin);
  void set_fault(const char* what, uint32_t token);
  void set_fault_at(const char* what, size_t offset);

  Tokens tokens_;
  uint32_t walked_begin_ = 0;  // the container walked to its end last, so that its parent need not
  uint32_t walked_end_ = 0;    // skip it again; equal when there is none
  const char* fault_ = nullptr;
  size_t fault_offset_ = 0;
  ErrorCode blame_;
  TokenIndex* index_ = nullptr;  // borrowed from the thread's pool once opened
};

// Defined here because every step of a walk calls them.
inline Object Value::object() const {
  if (document_ == nullptr || document_->tokens_.at(token_) != '{') return {};
  return Object(document_, token_);
}
inline Array Value::array() const {
  if (document_ == nullptr || document_->tokens_.at(token_) != '[') return {};
  return Array(document_, token_);
}

}  // namespace hw::json
