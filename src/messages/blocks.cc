#include "messages/blocks.h"

#include <string>
#include <utility>

#include "json/check.h"

namespace hw::translate {

StopReason messages_stop_reason(std::string_view reason) {
  if (reason == "max_tokens" || reason == "model_context_window_exceeded")
    return StopReason::kLength;
  if (reason == "stop_sequence") return StopReason::kStop;
  if (reason == "tool_use") return StopReason::kToolUse;
  if (reason == "refusal") return StopReason::kRefusal;
  if (reason == "pause_turn") return StopReason::kPause;
  return StopReason::kEnd;
}

BlockBegun read_messages_block(const json::Value& block, Events& out) {
  json::Value type, id, name;
  block.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "type") type = value;
    if (key == "id") id = value;
    if (key == "name") name = value;
  });
  const std::string_view kind = type.text_or("");
  BlockBegun begun;
  if (kind == "text") {
    begun.kind = BlockKind::kText;
  } else if (kind == "thinking" || kind == "redacted_thinking") {
    begun.kind = BlockKind::kReasoning;
  } else if (kind == "tool_use" && !Text::of(name).empty()) {
    begun.kind = BlockKind::kToolCall;
    begun.call_id = Text::of(id);
    begun.name = Text::of(name);
  } else {
    begun.kind = BlockKind::kForeign;
    begun.type = out.keep(std::string(kind));
    if (json::is_json_object(block.raw())) begun.raw = block.raw();
  }
  return begun;
}

Delta messages_signature(uint32_t block, OpaqueKind kind, std::string content, Events& out) {
  Opaque opaque;
  opaque.kind = kind;
  opaque.content = std::move(content);
  Delta delta;
  delta.block = block;
  delta.kind = Delta::Kind::kSignature;
  delta.text = Text::plain(out.keep(seal(opaque)));
  return delta;
}

}  // namespace hw::translate
