// Reads the content blocks of messages: texts, images, documents, thinking, calls of tools and
// their results.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// Notes a member of `value` that lies inside a message or a tool and has no place in the model; the
// same path is noted once. `null` is nothing and not noted.
void note_nested_field(Request& out, std::string_view where, std::string_view name,
                       const json::Value& value);

// Where a content stands.
struct ContentPlace {
  std::string field;      // for errors: "messages[2].content"
  std::string_view path;  // for marks: "messages[].content[]"
};

// Appends what `content` says, a string or an array of blocks, to `parts`, and takes their number
// from `parts_left`. Blocks of unknown types become foreign parts.
Status read_messages_content(const json::Value& content, const ContentPlace& place, Request& out,
                             std::vector<Part>& parts, size_t& parts_left);

}  // namespace hw::translate
