#include "messages/dialect.h"

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "messages/message.h"
#include "neutral/answer_usage.h"
#include "wire/error_body.h"

namespace hw::translate {
namespace {

// A block, put together of its pieces.
struct Block {
  BlockBegun begun;
  std::string text;       // escaped, as between the quotes of a JSON string
  std::string signature;  // likewise
  std::string citations;  // elements of an array
};

class MessagesAnswerWriter {
 public:
  MessagesAnswerWriter(const Reply& reply, Fidelity& fidelity)
      : reply_(reply), fidelity_(fidelity), usage_(reply) {}

  void write(const Events& events, std::string& out);

 private:
  void take(const Event& event);
  void take_delta(const Delta& delta);
  void write_block(const Block& block, std::string& out) const;
  void write_failure(std::string& out) const;

  const Reply& reply_;
  Fidelity& fidelity_;
  AnswerUsage usage_;
  std::map<uint32_t, Block> blocks_;
  bool calls_ = false;
  Finished finished_;
  const Failed* failed_ = nullptr;
};

void MessagesAnswerWriter::write(const Events& events, std::string& out) {
  for (const Event& event : events) take(event);
  if (failed_ != nullptr) return write_failure(out);
  out += '{';
  append_message_head(out, reply_);
  out += R"(,"content":[)";
  const size_t begin = out.size();
  for (const auto& [number, block] : blocks_) {
    const bool call = block.begun.kind == BlockKind::kToolCall;
    if (!call && block.text.empty() && block.signature.empty() && block.citations.empty()) continue;
    if (out.size() > begin) out += ',';
    write_block(block, out);
  }
  out += "],";
  append_stop(out, finished_, calls_);
  out += R"(,"usage":)";
  append_message_usage(out, usage_.known());
  out += '}';
}

void MessagesAnswerWriter::take(const Event& event) {
  if (const auto* delta = std::get_if<Delta>(&event)) {
    take_delta(*delta);
  } else if (const auto* begun = std::get_if<BlockBegun>(&event)) {
    if (begun->kind == BlockKind::kForeign) {
      fidelity_.meet(Feature::kForeignPart, begun->type);
      return;
    }
    calls_ |= begun->kind == BlockKind::kToolCall;
    blocks_[begun->block].begun = *begun;
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

void MessagesAnswerWriter::take_delta(const Delta& delta) {
  const auto found = blocks_.find(delta.block);
  if (found == blocks_.end()) return;
  Block& block = found->second;
  switch (delta.kind) {
    case Delta::Kind::kText:
      usage_.count(delta.text.bytes().size());
      if (delta.new_section && !block.text.empty()) block.text += "\\n\\n";
      delta.text.append_escaped(block.text);
      return;
    case Delta::Kind::kSignature:
      delta.text.append_escaped(block.signature);
      return;
    case Delta::Kind::kAnnotation: {
      std::string citation;
      if (!append_citation(citation, delta.raw)) return fidelity_.lose(Feature::kCitations);
      if (!block.citations.empty()) block.citations += ',';
      block.citations += citation;
      return;
    }
    case Delta::Kind::kLogprobs:
      fidelity_.meet(Feature::kLogprobs);
      return;
  }
}

void MessagesAnswerWriter::write_block(const Block& block, std::string& out) const {
  switch (block.begun.kind) {
    case BlockKind::kText:
    case BlockKind::kRefusal:
      out += R"({"type":"text","text":")";
      out += block.text;
      out += '"';
      if (!block.citations.empty()) {
        out += R"(,"citations":[)";
        out += block.citations;
        out += ']';
      }
      break;
    case BlockKind::kReasoning:
      out += R"({"type":"thinking","thinking":")";
      out += block.text;
      out += R"(","signature":")";
      out += block.signature;
      out += '"';
      break;
    case BlockKind::kToolCall:
      out += R"({"type":"tool_use",)";
      append_call_head(out, block.begun, reply_);
      out += R"(,"input":)";
      append_tool_input(out, block.begun.tool_kind, Text::escaped(block.text));
      break;
    case BlockKind::kForeign:
      return;
  }
  out += '}';
}

// Its status is the gateway's matter.
void MessagesAnswerWriter::write_failure(std::string& out) const {
  const wire::SpokenError error(failed_->family, 0, failed_->words);
  wire::append_error_body(out, Dialect::kAnthropicMessages, error, reply_.request_id);
}

}  // namespace

void write_messages_answer(const Events& events, const Reply& reply, Fidelity& fidelity,
                           std::string& out) {
  MessagesAnswerWriter(reply, fidelity).write(events, out);
}

}  // namespace hw::translate
