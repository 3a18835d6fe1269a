// What the readers of streamed and of whole answers of messages know alike: the blocks and the
// reasons to stop.
#pragma once

#include <string_view>

#include "json/scan.h"
#include "neutral/event.h"
#include "neutral/opaque.h"

namespace hw::translate {

// Of a `stop_reason`; an unknown one is the end.
StopReason messages_stop_reason(std::string_view reason);

// What a content block begins with: its kind, a call's id and name, a foreign block's type and
// JSON, which are kept in `out`. A call without a name is foreign.
BlockBegun read_messages_block(const json::Value& block, Events& out);

// The proof of a block's thinking for the client to keep.
Delta messages_signature(uint32_t block, OpaqueKind kind, std::string content, Events& out);

}  // namespace hw::translate
