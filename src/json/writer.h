// Writes JSON text onto a string: commas, quotes and escapes are its business, order is the
// caller's.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hw::json {

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so that
// the result is always valid; control characters are escaped, `/` and non-ASCII are not.
void append_quoted(std::string& out, std::string_view text);
// Appends the shortest decimal that reads back as the same double; null for NaN and infinity.
void append_number(std::string& out, double value);

// Writes one value after another. Wrong nesting (a key outside an object, a value without its key)
// is our bug and asserts.
//
//   json::Writer writer(out);
//   writer.begin_object();
//   writer.field("id", id);
//   writer.key("choices");
//   writer.begin_array();
//   writer.end_array();
//   writer.end_object();
class Writer {
 public:
  static constexpr int kDepthMax = 62;

  explicit Writer(std::string& out) : out_(out) {}

  // Brackets; each begin has its end.
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  // The name of the next value. Precondition: in an object, no key pending.
  void key(std::string_view name);

  // One value: a string, quoted and escaped.
  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  // One value: true or false, a double (null for NaN and infinity), an integer with all its digits.
  void value(bool boolean);
  void value(double number);
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  void value(T number) {
    if constexpr (std::is_signed_v<T>) {
      value_signed(number);
    } else {
      value_unsigned(number);
    }
  }
  // The word null.
  void null();
  // JSON text as it is. Precondition: valid JSON, which nobody checks.
  void raw(std::string_view json);

  // key(name) and value(v).
  template <class T>
  void field(std::string_view name, const T& v) {
    key(name);
    value(v);
  }
  void field_null(std::string_view name) {
    key(name);
    null();
  }
  void field_raw(std::string_view name, std::string_view json) {
    key(name);
    raw(json);
  }

  // How many objects and arrays are open: 0 when the text is complete.
  int depth() const { return depth_; }

 private:
  void before_value();
  void open(char bracket);
  void close(char bracket);
  void value_signed(int64_t number);
  void value_unsigned(uint64_t number);

  std::string& out_;
  int depth_ = 0;
  uint64_t is_object_ = 0;  // one bit for each level
  bool first_ = true;       // nothing written at this level yet
  bool keyed_ = false;      // a key waits for its value
};

}  // namespace hw::json
