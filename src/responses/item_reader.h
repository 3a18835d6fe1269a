// Reads the input items of responses: messages, thinking, calls of tools and their results.
#pragma once

#include "base/result.h"
#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// Appends a turn for each item of `input`, which is a text or a list of items. kBadRequest where an
// item is not as the dialect has it. Items of unknown types become foreign parts.
Status read_responses_input(const json::Value& input, Request& out);

}  // namespace hw::translate
