#include "translate/json_progress.h"

#include <string>

namespace hw::translate {

void JsonProgress::feed(const Text& piece) {
  const std::string_view bytes = piece.bytes();
  const bool as_is = bytes.find('\\') == std::string_view::npos;
  const std::string decoded = as_is ? std::string() : piece.str();
  for (const char c : as_is ? bytes : std::string_view(decoded)) step(c);
}

void JsonProgress::step(char c) {
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

}  // namespace hw::translate
