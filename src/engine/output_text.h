// The text of one answer as it grows: tokens' bytes in, whole characters out, ended by stop
// strings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hw::engine {

// Holds back the start of a UTF-8 character until it is complete, and what may be the start of a
// stop string until it is decided. What comes out is valid UTF-8 always: a byte that belongs to no
// character becomes U+FFFD. Holds at most 3 bytes and the longest stop string.
class OutputText {
 public:
  // Stop strings are valid UTF-8 and not empty.
  explicit OutputText(std::vector<std::string> stop) : stop_(std::move(stop)) {}

  // Adds a token's bytes; gives the text that is certain now, maybe none. After the stop, nothing.
  std::string push(std::string_view bytes);
  // The answer is over: gives what was held back.
  std::string flush();
  // A stop string came; the text before it has been given out.
  bool stopped() const { return stopped_; }

 private:
  void decode();
  std::string take_certain();

  std::vector<std::string> stop_;
  std::string bytes_;  // the start of a character
  std::string held_;   // whole characters that may be the start of a stop string
  bool stopped_ = false;
};

}  // namespace hw::engine
