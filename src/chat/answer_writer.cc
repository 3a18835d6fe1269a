#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/text.h"
#include "chat/completion.h"
#include "chat/dialect.h"
#include "chat/reasoning.h"
#include "neutral/answer_usage.h"
#include "neutral/custom_input.h"
#include "wire/error_body.h"

namespace hw::translate {
namespace {

// A block, put together of its pieces; what is text is escaped, as between the quotes of a string.
struct Block {
  BlockBegun begun;
  std::string text, signature;
};

class ChatAnswerWriter {
 public:
  ChatAnswerWriter(const Reply& reply, Fidelity& fidelity)
      : reply_(reply), fidelity_(fidelity), usage_(reply) {}

  void write(const Events& events, std::string& out);

 private:
  void take(const Event& event);
  void take_delta(const Delta& delta);
  void take_block(const Block& block);
  void take_reasoning(const Block& block);
  void take_call(const Block& block);
  void write_message(std::string& out) const;

  const Reply& reply_;
  Fidelity& fidelity_;
  AnswerUsage usage_;
  std::map<uint32_t, Block> blocks_;
  Finished finished_;
  const Failed* failed_ = nullptr;
  // What the message is made of, each as it will stand between its quotes or brackets.
  std::string content_, refusal_, reasoning_, details_, calls_, annotations_, logprobs_;
  std::string tickets_;  // of the thinking since the last call
  size_t details_count_ = 0;
};

void ChatAnswerWriter::write(const Events& events, std::string& out) {
  for (const Event& event : events) take(event);
  if (failed_ != nullptr) {
    const wire::SpokenError error(failed_->family, 0, failed_->words);
    return wire::append_error_body(out, Dialect::kOpenaiChat, error, reply_.request_id);
  }
  for (const auto& [number, block] : blocks_) take_block(block);
  append(out, '{');
  append_completion_head(out, "chat.completion", reply_);
  append(out, R"(,"choices":[{"index":0,"message":)");
  write_message(out);
  append(out, R"(,"logprobs":)");
  if (logprobs_.empty()) {
    append(out, "null");
  } else {
    append(out, R"({"content":[)");
    append(out, logprobs_);
    append(out, R"(],"refusal":null})");
  }
  append(out, ',');
  append_finish(out, finished_, !calls_.empty());
  append(out, R"(}],"usage":)");
  append_completion_usage(out, usage_.known());
  append(out, '}');
}

void ChatAnswerWriter::take(const Event& event) {
  if (const auto* delta = std::get_if<Delta>(&event)) {
    take_delta(*delta);
  } else if (const auto* begun = std::get_if<BlockBegun>(&event)) {
    if (begun->kind == BlockKind::kForeign) {
      fidelity_.meet(Feature::kForeignPart, begun->type);
    } else {
      blocks_[begun->block].begun = *begun;
    }
  } else if (const auto* started = std::get_if<Started>(&event)) {
    usage_.take(started->usage);
  } else if (const auto* used = std::get_if<Used>(&event)) {
    usage_.take(used->usage);
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    finished_ = *finished;
  } else if (const auto* failed = std::get_if<Failed>(&event)) {
    failed_ = failed;
  }
}

void ChatAnswerWriter::take_delta(const Delta& delta) {
  const auto found = blocks_.find(delta.block);
  if (found == blocks_.end()) return;
  Block& block = found->second;
  switch (delta.kind) {
    case Delta::Kind::kText:
      usage_.count(delta.text.bytes().size());
      if (delta.new_section && !block.text.empty()) block.text += R"(\n\n)";
      delta.text.append_escaped(block.text);
      return;
    case Delta::Kind::kSignature:
      delta.text.append_escaped(block.signature);
      return;
    case Delta::Kind::kAnnotation: {
      std::string annotation;
      if (!append_annotation(annotation, delta.raw)) return fidelity_.lose(Feature::kCitations);
      if (!annotations_.empty()) annotations_ += ',';
      annotations_ += annotation;
      return;
    }
    case Delta::Kind::kLogprobs:
      if (delta.raw.size() < 3) return;
      if (!logprobs_.empty()) logprobs_ += ',';
      logprobs_ += delta.raw.substr(1, delta.raw.size() - 2);
      return;
  }
}

void ChatAnswerWriter::take_block(const Block& block) {
  switch (block.begun.kind) {
    case BlockKind::kText:
      content_ += block.text;
      return;
    case BlockKind::kRefusal:
      refusal_ += block.text;
      return;
    case BlockKind::kReasoning:
      return take_reasoning(block);
    case BlockKind::kToolCall:
      return take_call(block);
    case BlockKind::kForeign:
      return;
  }
}

void ChatAnswerWriter::take_reasoning(const Block& block) {
  reasoning_ += block.text;
  if (block.signature.empty()) return;
  std::string ticket;
  append_ticket(ticket, block.signature, Text::escaped(block.text).str().size());
  if (!details_.empty()) details_ += ',';
  append_reasoning_detail(details_, ticket, details_count_++);
  if (!tickets_.empty()) tickets_ += ' ';
  tickets_ += ticket;
}

void ChatAnswerWriter::take_call(const Block& block) {
  const CalledTool tool(block.begun, reply_.tools);
  std::string arguments = block.text;
  if (tool.wrapped) {
    std::string free_text;
    append_custom_input(free_text, Text::escaped(block.text));
    arguments.clear();
    Text::plain(free_text).append_escaped(arguments);
  } else if (arguments.empty() && tool.kind == ToolKind::kFunction) {
    arguments = "{}";
  }
  append(calls_, calls_.empty() ? "{" : ",{");
  append_call(calls_, block.begun, tool, arguments);
  if (!tickets_.empty()) append_extra_content(calls_, std::exchange(tickets_, std::string()));
  append(calls_, '}');
}

void ChatAnswerWriter::write_message(std::string& out) const {
  const auto quoted = [&](std::string_view member, const std::string& text) {
    append(out, member);
    append(out, '"');
    append(out, text);
    append(out, '"');
  };
  const auto listed = [&](std::string_view member, const std::string& elements) {
    if (elements.empty()) return;
    append(out, member);
    append(out, '[');
    append(out, elements);
    append(out, ']');
  };
  const bool no_content = content_.empty() && (!calls_.empty() || !refusal_.empty());
  append(out, R"({"role":"assistant")");
  if (no_content)
    append(out, R"(,"content":null)");
  else
    quoted(R"(,"content":)", content_);
  if (refusal_.empty())
    append(out, R"(,"refusal":null)");
  else
    quoted(R"(,"refusal":)", refusal_);
  if (!reasoning_.empty()) quoted(R"(,"reasoning_content":)", reasoning_);
  listed(R"(,"reasoning_details":)", details_);
  listed(R"(,"annotations":)", annotations_);
  listed(R"(,"tool_calls":)", calls_);
  append(out, '}');
}

}  // namespace

void write_chat_answer(const Events& events, const Reply& reply, Fidelity& fidelity,
                       std::string& out) {
  ChatAnswerWriter(reply, fidelity).write(events, out);
}

}  // namespace hw::translate
