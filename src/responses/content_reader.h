// Reads the parts of a message's content or of a result in responses: texts, images, files, sounds.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// Where a content stands, for errors and marks: input[item].member.
struct ResponsesContentPlace {
  size_t item = 0;
  std::string_view member;
};

// Appends what `content` says, a text or a list of parts, to `parts`, and takes their number from
// `parts_left`. Parts of unknown types become foreign parts.
Status read_responses_content(const json::Value& content, const ResponsesContentPlace& place,
                              Request& out, std::vector<Part>& parts, size_t& parts_left);

}  // namespace hw::translate
