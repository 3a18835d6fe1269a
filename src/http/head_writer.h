// HeadWriter: composes a head out of short pieces. They are gathered on the stack and appended to a
// string in one go: a head has three dozen of them, and most of what a string's append does for
// each is calling.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "http/fields.h"

namespace hw::http {

// Appends to `out` when it ends; `out` must not be touched before. What is added is taken as it is:
// ours, or parsed by head.h.
class HeadWriter {
 public:
  explicit HeadWriter(std::string& out) : out_(out) {}
  HeadWriter(const HeadWriter&) = delete;
  HeadWriter& operator=(const HeadWriter&) = delete;
  ~HeadWriter() { flush(); }

  // Appends text, or a number in decimal.
  [[gnu::always_inline]] HeadWriter& add(std::string_view text) {
    if (text.size() > kBytes - size_) return add_beyond(text);
    if (!text.empty()) std::memcpy(bytes_ + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  HeadWriter& add(uint64_t number) {
    if (kBytes - size_ < kDigitsMax) flush();
    size_ =
        static_cast<size_t>(std::to_chars(bytes_ + size_, bytes_ + kBytes, number).ptr - bytes_);
    return *this;
  }
  // Appends "name: value\r\n".
  HeadWriter& line(std::string_view name, std::string_view value) {
    return add(name).add(": ").add(value).add("\r\n");
  }

  // Appends the lines of those fields for which keep(field) is true, as they came; neighbours in
  // one piece.
  template <class Keep>
  void lines(const Fields& fields, Keep&& keep) {
    std::string_view run;
    for (const Field& field : fields) {
      if (!keep(field)) continue;
      const std::string_view one = field.line();
      if (!one.empty() && one.data() == run.data() + run.size()) {
        run = {run.data(), run.size() + one.size()};
        continue;
      }
      add(run);
      run = one;
      if (one.empty()) line(field.name, field.value);
    }
    add(run);
  }

 private:
  static constexpr size_t kBytes = 1024;
  static constexpr size_t kDigitsMax = 20;

  HeadWriter& add_beyond(std::string_view text) {
    flush();
    out_.append(text);
    return *this;
  }
  void flush() {
    out_.append(bytes_, size_);
    size_ = 0;
  }

  std::string& out_;
  size_t size_ = 0;
  char bytes_[kBytes];
};

}  // namespace hw::http
