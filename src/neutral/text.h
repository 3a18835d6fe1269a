// Text: a piece of text on its way from one JSON document into another. It stays escaped as it came
// wherever it can, so that most text is copied once and never decoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/scan.h"

namespace hw::translate {

// A view; whoever made it owns the bytes. A default one is absent, which is not the same as empty.
class Text {
 public:
  Text() = default;
  // What stands between the quotes of a valid JSON string.
  static Text escaped(std::string_view bytes) { return {bytes, Form::kEscaped}; }
  // The text itself, UTF-8.
  static Text plain(std::string_view bytes) { return {bytes, Form::kPlain}; }
  // A JSON string's; absent for any other value and for a string with a wrong escape.
  static Text of(const json::Value& value);

  // There is a text, perhaps an empty one.
  bool present() const { return form_ != Form::kAbsent; }
  // Absent, or of no length.
  bool empty() const { return bytes_.empty(); }

  // Appends the text as a JSON string, quotes included; `""` where it is absent.
  void append_json(std::string& out) const;
  // Appends what belongs between the quotes.
  void append_escaped(std::string& out) const;
  // Appends the text itself. A lone surrogate becomes U+FFFD.
  void append_plain(std::string& out) const;
  // The text itself.
  std::string str() const;
  // Whether the text itself is `plain`.
  bool is(std::string_view plain) const;
  // The bytes as they are held, escaped or not; for a look at what they begin with.
  std::string_view bytes() const { return bytes_; }
  // Some of bytes(), in the form of the whole. Precondition: no escape is cut.
  Text slice(size_t offset, size_t length = std::string_view::npos) const {
    return {bytes_.substr(offset, length), form_};
  }

 private:
  enum class Form : uint8_t { kAbsent, kEscaped, kPlain };
  Text(std::string_view bytes, Form form) : bytes_(bytes), form_(form) {}

  std::string_view bytes_;
  Form form_ = Form::kAbsent;
};

// A JSON value as it stands in a document that is valid JSON; empty: absent.
using Raw = std::string_view;

}  // namespace hw::translate
