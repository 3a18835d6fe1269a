#include <string>
#include <string_view>

#include "base/text.h"
#include "messages/blocks.h"
#include "messages/dialect.h"

namespace hw::translate {
namespace {

// One piece of a block, its text or its arguments.
void read_text(uint32_t block, Text text, Events& out) {
  if (text.empty()) return;
  Delta delta;
  delta.block = block;
  delta.text = text;
  out.emplace_back(delta);
}

void read_citations(uint32_t block, json::Array citations, Events& out) {
  json::Value citation;
  while (citations.next(citation)) {
    Delta delta;
    delta.block = block;
    delta.kind = Delta::Kind::kAnnotation;
    delta.raw = citation.raw();
    out.emplace_back(delta);
  }
}

void read_thinking(uint32_t block, json::Object object, Events& out) {
  read_text(block, Text::of(object.find("thinking")), out);
  const json::Value signature = object.find("signature"), data = object.find("data");
  if (signature.has_text()) {
    out.emplace_back(
        messages_signature(block, OpaqueKind::kSignature, std::string(signature.text_or("")), out));
  } else if (data.has_text()) {
    out.emplace_back(
        messages_signature(block, OpaqueKind::kRedacted, std::string(data.text_or("")), out));
  }
}

void read_block(const BlockBegun& begun, json::Object object, Events& out) {
  const uint32_t block = begun.block;
  switch (begun.kind) {
    case BlockKind::kText:
      read_text(block, Text::of(object.find("text")), out);
      return read_citations(block, object.find("citations").array(), out);
    case BlockKind::kReasoning:
      return read_thinking(block, object, out);
    case BlockKind::kToolCall: {
      const json::Value input = object.find("input");
      if (!input.object().empty()) read_text(block, Text::plain(input.raw()), out);
      return;
    }
    case BlockKind::kRefusal:
    case BlockKind::kForeign:
      return;
  }
}

void read_blocks(json::Array blocks, Events& out) {
  json::Value block;
  for (uint32_t number = 0; blocks.next(block); ++number) {
    BlockBegun begun = read_messages_block(block, out);
    begun.block = number;
    out.emplace_back(begun);
    read_block(begun, block.object(), out);
    out.emplace_back(BlockEnded{number});
  }
}

}  // namespace

Status read_messages_answer(json::Object root, Events& out) {
  json::Value content, stop_reason, stop_sequence, usage, error;
  Started started;
  root.each([&](std::string_view key, const json::Value& value) {
    if (key == "id") started.id = Text::of(value);
    if (key == "model") started.model = Text::of(value);
    if (key == "content") content = value;
    if (key == "stop_reason") stop_reason = value;
    if (key == "stop_sequence") stop_sequence = value;
    if (key == "usage") usage = value;
    if (key == "error") error = value;
  });
  if (content.kind() != json::Kind::kArray) {
    wire::ErrorWords words;
    wire::read_error(error, words);
    return fail(ErrorCode::kUpstreamDialect,
                words.message.empty() ? "the answer has no list `content`"
                                      : concat("the answer is an error: ", words.message));
  }
  wire::read_usage(Dialect::kAnthropicMessages, usage.object(), started.usage);
  out.emplace_back(started);
  read_blocks(content.array(), out);
  out.emplace_back(
      Finished{messages_stop_reason(stop_reason.text_or("")), Text::of(stop_sequence)});
  out.emplace_back(Used{started.usage});
  return {};
}

}  // namespace hw::translate
