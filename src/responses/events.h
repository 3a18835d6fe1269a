// ResponsesEvents: how the events of a response's stream begin: their numbers, and where in the
// output they belong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "responses/output.h"

namespace hw::translate {

// Writes one stream's events up to the members of their own; the caller appends those and kEnd.
class ResponsesEvents {
 public:
  static constexpr std::string_view kEnd = "}\n\n";

  // `output` outlives it.
  explicit ResponsesEvents(const ResponsesOutput& output) : output_(output) {}

  // Of the response.
  void begin(std::string& out, std::string_view type);
  // Of an item, by its place in the output.
  void begin_item(std::string& out, std::string_view type, size_t item);
  // Of a part of a message.
  void begin_part(std::string& out, std::string_view type, size_t item, size_t part);
  // Of the last section of a summary of thinking.
  void begin_section(std::string& out, std::string_view type, size_t item);
  // A whole event that shows an item as it stands.
  void write_item(std::string& out, std::string_view type, size_t item);
  // The next event has the number of the last one.
  void repeat_number() { --next_; }

 private:
  const ResponsesOutput& output_;
  int64_t next_ = 0;
};

}  // namespace hw::translate
