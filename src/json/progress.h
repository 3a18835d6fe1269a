// Progress: whether JSON text that comes piece by piece is a complete value by now.
#pragma once

#include <cstdint>
#include <string_view>

namespace hw::json {

// Counts brackets and minds strings; whether what stands between is JSON is not its business.
class Progress {
 public:
  // Takes the next piece.
  void feed(std::string_view piece);
  // An object or array has begun and is closed. Nothing else is ever complete.
  bool complete() const { return begun_ && depth_ == 0 && !in_string_; }

 private:
  void step(char c);

  uint32_t depth_ = 0;
  bool begun_ = false;
  bool in_string_ = false;
  bool after_backslash_ = false;
};

}  // namespace hw::json
