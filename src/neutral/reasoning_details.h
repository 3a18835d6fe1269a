// ReasoningDetails: OpenRouter's reasoning_details, put together from the pieces of a stream so
// that they can be given back to it as it wants them: whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json/scan.h"

namespace hw::translate {

class ReasoningDetails {
 public:
  // More than this is not kept; then there are none at all.
  static constexpr size_t kBytesMax = size_t{1} << 20;

  // Takes the next pieces: texts and summaries continue the last piece of their type and index, of
  // other members the last word counts.
  void take(json::Array details);
  bool empty() const { return pieces_.empty() || bytes_ > kBytesMax; }
  // The JSON array. Afterwards nothing is held.
  std::string take_json();

 private:
  struct Member {
    std::string name, raw;
  };
  struct Piece {
    std::string type, index;      // raw
    std::string text_name, text;  // of what is put together, escaped
    std::vector<Member> members;
  };
  void add(json::Object detail);

  std::vector<Piece> pieces_;
  size_t bytes_ = 0;
};

}  // namespace hw::translate
