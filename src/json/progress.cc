#include "json/progress.h"

namespace hw::json {

void Progress::feed(std::string_view piece) {
  for (const char c : piece) step(c);
}

void Progress::step(char c) {
  if (in_string_) {
    if (after_backslash_) {
      after_backslash_ = false;
    } else if (c == '\\') {
      after_backslash_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    return;
  }
  if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    begun_ = true;
    ++depth_;
  } else if ((c == '}' || c == ']') && depth_ > 0) {
    --depth_;
  }
}

}  // namespace hw::json
