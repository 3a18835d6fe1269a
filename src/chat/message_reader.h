// Reads the messages of chat: turns with their parts, calls of tools and the tools' results.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// Makes turns of `messages`. kBadRequest, naming the field, where it is no array of messages whose
// roles and contents chat knows.
Status read_chat_messages(const json::Value& messages, Request& out);

// Notes a member that lies inside a message or a tool of chat and has no place in the model, under
// `where.name`; the same path is noted once, `null` never.
void note_chat_member(Request& out, std::string_view where, std::string_view name,
                      const json::Value& value);

}  // namespace hw::translate
