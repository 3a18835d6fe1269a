// Header fields: the list of a head's, what may be in a name and a value, and which belong to one
// connection only (RFC 9110 §5, §7.6.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include "http/limits.h"

namespace hw::http {

// One header field; the value is without blanks at its ends, never has CR, LF or NUL in it, and may
// have bytes above 0x7f (obs-text).
struct Field {
  std::string_view name;
  std::string_view value;
  uint32_t line_bytes = 0;  // of a head that was parsed; 0: the field lies in no line

  // The whole line in that head, CRLF included. The lines of neighbours touch.
  std::string_view line() const { return {name.data(), line_bytes}; }
};

// The fields of a head in their order, at most kFieldsMax. The first kInline lie in the object, 1
// KiB in all; a head with more of them allocates once.
class Fields {
 public:
  // What SDKs and coding agents send, with some room: Claude Code has 19.
  static constexpr size_t kInline = 24;

  Fields() {}  // leaves the storage as it is: zeroing it would cost more than a small head

  // Number of fields, and the fields in order.
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // First field, and the place behind the last one.
  const Field* begin() const {
    return reinterpret_cast<const Field*>(more_ != nullptr ? more_.get() : storage_);
  }
  const Field* end() const { return begin() + size_; }
  const Field& operator[](size_t i) const { return begin()[i]; }

  // The first field of that name, ASCII case ignored; null where there is none.
  const Field* find(std::string_view name) const;
  // Its value, or an empty view.
  std::string_view value(std::string_view name) const;
  // How many fields have that name.
  size_t count(std::string_view name) const;

  // Empties the list; the views given out before stay what they are.
  void clear() {
    size_ = 0;
    more_.reset();
  }
  // Appends a field as it is. False when the list is full.
  bool add(const Field& field) {
    if (size_ == kFieldsMax) return false;
    if (size_ == kInline && more_ == nullptr) move_out();
    new ((more_ != nullptr ? more_.get() : storage_) + size_ * sizeof(Field)) Field(field);
    ++size_;
    return true;
  }
  bool add(std::string_view name, std::string_view value) { return add(Field{name, value}); }

 private:
  // Takes the fields to a place with room for kFieldsMax.
  void move_out();

  size_t size_ = 0;
  std::unique_ptr<unsigned char[]> more_;  // all of them, once they are more than kInline
  alignas(Field) unsigned char storage_[kInline * sizeof(Field)];
};

// One line `name: value` without its CRLF, by the rules of heads; for trailers. Null when it is
// fine, else what is wrong with it.
const char* parse_field_line(std::string_view line, Field& out);

// RFC 9110 §5.6.2: one or more token characters.
bool is_token(std::string_view text);
// RFC 9110 §5.5: no control characters but HTAB, no blank at either end; may be empty.
bool is_field_value(std::string_view text);

// Connection, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding, Upgrade,
// Proxy-Authenticate and Proxy-Authorization: of one connection, never passed on (RFC 9110 §7.6.1).
bool is_hop_by_hop(std::string_view name);

// Answers is_hop_by_hop for one head, the names listed in its Connection fields included. Made once
// for a head; refers to its fields.
class HopByHop {
 public:
  explicit HopByHop(const Fields& fields);
  // Whether a field of that name stays behind.
  bool drops(std::string_view name) const;

 private:
  const Fields& fields_;
  bool lists_names_ = false;  // Connection has more than close and keep-alive
};

// Takes one element off a comma-separated list (RFC 9110 §5.6.1); blanks around it are dropped, it
// may be empty.
std::string_view take_list_element(std::string_view& list);

}  // namespace hw::http
