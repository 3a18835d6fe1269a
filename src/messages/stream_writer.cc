#include <deque>
#include <string>
#include <string_view>
#include <variant>

#include "base/text.h"
#include "messages/dialect.h"
#include "messages/message.h"
#include "neutral/answer_usage.h"
#include "neutral/custom_input.h"
#include "wire/error_body.h"

namespace hw::translate {
namespace {

// What is held of blocks that wait for the one before them to end; more is no answer.
constexpr size_t kHeldBytesMax = size_t{32} << 20;

// A block of the answer that is not written to its end. Blocks of messages follow each other, so
// only the first of them goes out, and those that overlap with it wait.
struct OpenBlock {
  uint32_t block = 0;
  BlockKind kind = BlockKind::kText;
  ToolKind tool_kind = ToolKind::kFunction;
  uint32_t index = 0;    // the client's, once it has begun
  bool begun = false;    // texts begin with their first piece: empty ones never do
  bool written = false;  // has had a piece of text
  bool ended = false;
  std::string signature;  // escaped; told whole, since clients keep the last piece only
  std::string held;
};

class MessagesStreamWriter final : public StreamWriter {
 public:
  MessagesStreamWriter(const Reply& reply, Fidelity& fidelity)
      : reply_(reply), fidelity_(fidelity), usage_(reply) {}

  void write(const Event& event, std::string& out) override;
  void end(std::string& out) override;
  void fail(const Error& error, std::string& out) override;
  void heartbeat(std::string& out) override;
  bool failed() const override { return failed_; }

 private:
  void start(std::string& out);
  void begin(const BlockBegun& begun, std::string& out);
  void begin_block(OpenBlock& block, std::string_view content, std::string& out);
  void begin_text(OpenBlock& block, std::string& out);
  void write_delta(const Delta& delta, std::string& out);
  void write_text(OpenBlock& block, const Delta& delta, std::string& out);
  void write_citation(OpenBlock& block, const Delta& delta, std::string& out);
  void end_block(uint32_t number, std::string& out);
  void write_end(const OpenBlock& block, std::string& to);
  void write_ended(std::string& out);
  void write_failure(const Failed& failed, std::string& out);
  OpenBlock* find(uint32_t number);
  std::string& place(OpenBlock& block, std::string& out);

  const Reply& reply_;
  Fidelity& fidelity_;
  AnswerUsage usage_;
  std::deque<OpenBlock> open_;
  uint32_t next_index_ = 0;
  bool started_ = false, calls_ = false, failed_ = false;
  StopReason reason_ = StopReason::kEnd;
  std::string stop_sequence_;  // JSON text between the quotes
  bool has_stop_sequence_ = false;
};

constexpr std::string_view kDeltaBegin =
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":";

void append_delta_begin(std::string& out, uint32_t index, std::string_view delta) {
  out += kDeltaBegin;
  append(out, index);
  out += delta;
}

void MessagesStreamWriter::write(const Event& event, std::string& out) {
  if (const auto* delta = std::get_if<Delta>(&event)) {
    write_delta(*delta, out);
  } else if (const auto* begun = std::get_if<BlockBegun>(&event)) {
    begin(*begun, out);
  } else if (const auto* ended = std::get_if<BlockEnded>(&event)) {
    end_block(ended->block, out);
  } else if (const auto* started = std::get_if<Started>(&event)) {
    usage_.take(started->usage);
    start(out);
  } else if (const auto* used = std::get_if<Used>(&event)) {
    usage_.take(used->usage);
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    reason_ = finished->reason;
    has_stop_sequence_ = finished->stop_sequence.present();
    stop_sequence_.clear();
    finished->stop_sequence.append_escaped(stop_sequence_);
  } else if (std::holds_alternative<Ping>(event)) {
    heartbeat(out);
  } else if (const auto* failed = std::get_if<Failed>(&event)) {
    write_failure(*failed, out);
  }
}

void MessagesStreamWriter::start(std::string& out) {
  if (started_) return;
  started_ = true;
  out += "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{";
  append_message_head(out, reply_);
  out += R"(,"content":[],"stop_reason":null,"stop_sequence":null,"usage":)";
  append_message_usage(out, usage_.known());
  out += "}}\n\n";
}

void MessagesStreamWriter::begin(const BlockBegun& begun, std::string& out) {
  start(out);
  if (begun.kind == BlockKind::kForeign) {
    fidelity_.meet(Feature::kForeignPart, begun.type);
    return;
  }
  // Indices follow the order of the blocks, so that the one in front must have its own by now.
  if (!open_.empty() && !open_.back().ended) begin_text(open_.back(), out);
  OpenBlock& block = open_.emplace_back();
  block.block = begun.block;
  block.kind = begun.kind;
  block.tool_kind = begun.tool_kind;
  if (begun.kind != BlockKind::kToolCall) return;
  calls_ = true;
  std::string content = R"({"type":"tool_use",)";
  append_call_head(content, begun, reply_);
  content += R"(,"input":{}})";
  begin_block(block, content, out);
}

// Where the events of a block go.
std::string& MessagesStreamWriter::place(OpenBlock& block, std::string& out) {
  return &block == &open_.front() ? out : block.held;
}

void MessagesStreamWriter::begin_block(OpenBlock& block, std::string_view content,
                                       std::string& out) {
  block.begun = true;
  block.index = next_index_++;
  std::string& to = place(block, out);
  to += "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":";
  append(to, block.index);
  to += R"(,"content_block":)";
  to += content;
  to += "}\n\n";
  if (block.tool_kind != ToolKind::kCustom) return;
  append_delta_begin(to, block.index, R"(,"delta":{"type":"input_json_delta","partial_json":)");
  Text::plain(kCustomInputOpen).append_json(to);
  to += "}}\n\n";
}

void MessagesStreamWriter::begin_text(OpenBlock& block, std::string& out) {
  if (block.begun) return;
  const bool thinks = block.kind == BlockKind::kReasoning;
  begin_block(block,
              thinks ? R"({"type":"thinking","thinking":"","signature":""})"
                     : R"({"type":"text","text":""})",
              out);
}

void MessagesStreamWriter::write_delta(const Delta& delta, std::string& out) {
  OpenBlock* block = find(delta.block);
  if (block == nullptr) return;
  switch (delta.kind) {
    case Delta::Kind::kText:
      write_text(*block, delta, out);
      break;
    case Delta::Kind::kSignature:
      if (block->kind == BlockKind::kReasoning) delta.text.append_escaped(block->signature);
      break;
    case Delta::Kind::kAnnotation:
      write_citation(*block, delta, out);
      break;
    case Delta::Kind::kLogprobs:
      fidelity_.meet(Feature::kLogprobs);
      break;
  }
  if (block->held.size() + block->signature.size() <= kHeldBytesMax) return;
  fail(Error(ErrorCode::kUpstreamProtocol, "The upstream mixes more calls of tools than fit."),
       out);
}

void MessagesStreamWriter::write_text(OpenBlock& block, const Delta& delta, std::string& out) {
  if (delta.text.empty()) return;
  usage_.count(delta.text.bytes().size());
  begin_text(block, out);
  std::string& to = place(block, out);
  switch (block.kind) {
    case BlockKind::kText:
    case BlockKind::kRefusal:
      append_delta_begin(to, block.index, R"(,"delta":{"type":"text_delta","text":)");
      delta.text.append_json(to);
      break;
    case BlockKind::kReasoning:
      append_delta_begin(to, block.index, R"(,"delta":{"type":"thinking_delta","thinking":)");
      to += delta.new_section && block.written ? R"("\n\n)" : R"(")";
      delta.text.append_escaped(to);
      to += '"';
      break;
    case BlockKind::kToolCall:
      append_delta_begin(to, block.index, R"(,"delta":{"type":"input_json_delta","partial_json":)");
      if (block.tool_kind == ToolKind::kCustom) {
        std::string escaped;
        delta.text.append_escaped(escaped);
        Text::plain(escaped).append_json(to);
      } else {
        delta.text.append_json(to);
      }
      break;
    case BlockKind::kForeign:
      return;
  }
  to += "}}\n\n";
  block.written = true;
}

void MessagesStreamWriter::write_citation(OpenBlock& block, const Delta& delta, std::string& out) {
  if (block.kind != BlockKind::kText) return;
  std::string citation;
  if (!append_citation(citation, delta.raw)) return fidelity_.lose(Feature::kCitations);
  begin_text(block, out);
  std::string& to = place(block, out);
  append_delta_begin(to, block.index, R"(,"delta":{"type":"citations_delta","citation":)");
  to += citation;
  to += "}}\n\n";
}

void MessagesStreamWriter::end_block(uint32_t number, std::string& out) {
  OpenBlock* block = find(number);
  if (block == nullptr) return;
  if (!block->signature.empty()) begin_text(*block, out);
  if (block->begun) write_end(*block, place(*block, out));
  block->ended = true;
  write_ended(out);
}

void MessagesStreamWriter::write_end(const OpenBlock& block, std::string& to) {
  if (!block.signature.empty()) {
    append_delta_begin(to, block.index, R"(,"delta":{"type":"signature_delta","signature":)");
    Text::escaped(block.signature).append_json(to);
    to += "}}\n\n";
  }
  if (block.tool_kind == ToolKind::kCustom) {
    append_delta_begin(to, block.index, R"(,"delta":{"type":"input_json_delta","partial_json":)");
    Text::plain(kCustomInputClose).append_json(to);
    to += "}}\n\n";
  }
  to += "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":";
  append(to, block.index);
  to += "}\n\n";
}

// What waited for the first block goes out when that one has ended.
void MessagesStreamWriter::write_ended(std::string& out) {
  while (!open_.empty() && open_.front().ended) {
    open_.pop_front();
    if (open_.empty()) return;
    out += open_.front().held;
    release(open_.front().held);
  }
}

void MessagesStreamWriter::end(std::string& out) {
  start(out);
  while (!open_.empty()) end_block(open_.front().block, out);
  Finished finished;
  finished.reason = reason_;
  if (has_stop_sequence_) finished.stop_sequence = Text::escaped(stop_sequence_);
  out += "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{";
  append_stop(out, finished, calls_);
  out += R"(},"usage":)";
  append_message_usage(out, usage_.known());
  out += "}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
}

void MessagesStreamWriter::fail(const Error& error, std::string& out) {
  wire::append_error_event(out, Dialect::kAnthropicMessages, error, reply_.request_id, nullptr);
  failed_ = true;
}

void MessagesStreamWriter::write_failure(const Failed& failed, std::string& out) {
  const wire::SpokenError error(failed.family, 0, failed.words);
  wire::append_error_event(out, Dialect::kAnthropicMessages, error, reply_.request_id, nullptr);
  failed_ = true;
}

void MessagesStreamWriter::heartbeat(std::string& out) {
  wire::append_heartbeat(out, Dialect::kAnthropicMessages, nullptr);
}

OpenBlock* MessagesStreamWriter::find(uint32_t number) {
  for (OpenBlock& block : open_) {
    if (block.block == number && !block.ended) return &block;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<StreamWriter> make_messages_stream_writer(const Reply& reply, Fidelity& fidelity) {
  return std::make_unique<MessagesStreamWriter>(reply, fidelity);
}

}  // namespace hw::translate
