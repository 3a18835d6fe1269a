// Reads the input items of responses: messages, thinking, calls of tools and their results.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/scan.h"
#include "translate/request.h"

namespace hw::translate {

// Appends a turn for each item of `input`, which is a text or a list of items. kBadRequest where an
// item is not as the dialect has it. Items of unknown types become foreign parts.
Status read_responses_input(const json::Value& input, Request& out);

// Notes a member inside an item, a part or a tool that has no place in the model; the same path is
// noted once, null is nothing and not noted.
void note_responses_member(Request& out, std::string_view where, std::string_view name,
                           const json::Value& value);

// The word that `value` is, kept where it has escapes; empty where it is no string.
std::string_view responses_word(Request& out, const json::Value& value);

}  // namespace hw::translate
