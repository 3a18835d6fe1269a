// JsonProgress: whether JSON text that comes piece by piece is a complete value by now.
#pragma once

#include <cstdint>

#include "translate/text.h"

namespace hw::translate {

// Counts brackets and minds strings; whether what stands between is JSON is not its business.
class JsonProgress {
 public:
  // Takes the next piece, which is the text itself (its escapes are those of the string that
  // carries it).
  void feed(const Text& piece);
  // An object or array has begun and is closed. Nothing else is ever complete.
  bool complete() const { return begun_ && depth_ == 0 && !in_string_; }

 private:
  void step(char c);

  uint32_t depth_ = 0;
  bool begun_ = false;
  bool in_string_ = false;
  bool after_backslash_ = false;
};

}  // namespace hw::translate
