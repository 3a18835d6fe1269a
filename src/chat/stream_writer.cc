#include <deque>
#include <string>
#include <string_view>
#include <utility>
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

// A block of the answer that has not ended.
struct OpenBlock {
  uint32_t block = 0;
  BlockKind kind = BlockKind::kText;
  uint64_t text_bytes = 0;  // thinking: of the text itself
  std::string signature;    // thinking: escaped
  size_t call = 0;          // a call's index
  bool custom = false;      // a call's arguments are free text
  bool wrapped = false;     // which comes as an argument
  bool said = false;        // a call's arguments have begun
  CustomInput input;
};

class ChatStreamWriter final : public StreamWriter {
 public:
  ChatStreamWriter(const Reply& reply, Fidelity& fidelity)
      : reply_(reply), fidelity_(fidelity), usage_(reply) {}

  void write(const Event& event, std::string& out) override;
  void end(std::string& out) override;
  void fail(const Error& error, std::string& out) override;
  void heartbeat(std::string& out) override;
  bool failed() const override { return failed_; }

 private:
  void start(std::string& out);
  void begin_chunk(std::string& out);
  void end_chunk(std::string& out);
  void write_chunk(std::string& out, std::string_view delta);
  void begin(const BlockBegun& begun, std::string& out);
  void begin_call(const BlockBegun& begun, OpenBlock& block, std::string& out);
  void write_delta(const Delta& delta, std::string& out);
  void write_text(OpenBlock& block, const Delta& delta, std::string& out);
  void write_string(std::string_view member, const Delta& delta, std::string& out);
  void write_thought(OpenBlock& block, const Delta& delta, std::string& out);
  void write_arguments(OpenBlock& block, const Text& text, std::string& out);
  void write_annotation(const Delta& delta, std::string& out);
  void write_logprobs(const Delta& delta, std::string& out);
  void end_block(uint32_t number, std::string& out);
  void write_ticket(const OpenBlock& block, std::string& out);
  void finish(const Finished& finished, std::string& out);
  void write_usage(std::string& out);
  void write_failure(const Failed& failed, std::string& out);
  OpenBlock* find(uint32_t number);

  const Reply& reply_;
  Fidelity& fidelity_;
  AnswerUsage usage_;
  std::deque<OpenBlock> open_;
  std::string chunk_begin_;  // of every chunk, to its delta
  std::string tickets_;      // of the thinking since the last call
  size_t calls_ = 0;
  size_t details_ = 0;
  bool started_ = false, finished_ = false, failed_ = false;
};

constexpr std::string_view kChunkEnd = ",\"logprobs\":null,\"finish_reason\":null}]}\n\n";

void ChatStreamWriter::write(const Event& event, std::string& out) {
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
    finish(*finished, out);
  } else if (std::holds_alternative<Ping>(event)) {
    heartbeat(out);
  } else if (const auto* failed = std::get_if<Failed>(&event)) {
    write_failure(*failed, out);
  }
}

// The role comes first and once.
void ChatStreamWriter::start(std::string& out) {
  if (started_) return;
  started_ = true;
  chunk_begin_ = "data: {";
  append_completion_head(chunk_begin_, "chat.completion.chunk", reply_);
  chunk_begin_ += R"(,"choices":[{"index":0,"delta":)";
  write_chunk(out, R"({"role":"assistant","content":"","refusal":null})");
}

void ChatStreamWriter::begin_chunk(std::string& out) {
  start(out);
  out += chunk_begin_;
}

void ChatStreamWriter::end_chunk(std::string& out) {
  out += kChunkEnd;
}

void ChatStreamWriter::write_chunk(std::string& out, std::string_view delta) {
  begin_chunk(out);
  out += delta;
  end_chunk(out);
}

void ChatStreamWriter::begin(const BlockBegun& begun, std::string& out) {
  start(out);
  if (begun.kind == BlockKind::kForeign) {
    fidelity_.meet(Feature::kForeignPart, begun.type);
    return;
  }
  OpenBlock& block = open_.emplace_back();
  block.block = begun.block;
  block.kind = begun.kind;
  if (begun.kind == BlockKind::kToolCall) begin_call(begun, block, out);
}

void ChatStreamWriter::begin_call(const BlockBegun& begun, OpenBlock& block, std::string& out) {
  const CalledTool tool(begun, reply_.tools);
  block.call = calls_++;
  block.custom = tool.kind == ToolKind::kCustom;
  block.wrapped = tool.wrapped;
  begin_chunk(out);
  append(out, R"({"tool_calls":[{"index":)");
  append(out, block.call);
  append(out, ',');
  append_call(out, begun, tool, "");
  if (!tickets_.empty()) append_extra_content(out, std::exchange(tickets_, std::string()));
  append(out, "}]}");
  end_chunk(out);
}

void ChatStreamWriter::write_delta(const Delta& delta, std::string& out) {
  OpenBlock* block = find(delta.block);
  if (block == nullptr) return;
  switch (delta.kind) {
    case Delta::Kind::kText:
      return write_text(*block, delta, out);
    case Delta::Kind::kSignature:
      delta.text.append_escaped(block->signature);
      return;
    case Delta::Kind::kAnnotation:
      return write_annotation(delta, out);
    case Delta::Kind::kLogprobs:
      return write_logprobs(delta, out);
  }
}

void ChatStreamWriter::write_text(OpenBlock& block, const Delta& delta, std::string& out) {
  if (delta.text.empty()) return;
  usage_.count(delta.text.bytes().size());
  switch (block.kind) {
    case BlockKind::kText:
      return write_string(R"({"content":)", delta, out);
    case BlockKind::kRefusal:
      return write_string(R"({"refusal":)", delta, out);
    case BlockKind::kReasoning:
      return write_thought(block, delta, out);
    case BlockKind::kToolCall:
      return write_arguments(block, delta.text, out);
    case BlockKind::kForeign:
      return;
  }
}

void ChatStreamWriter::write_string(std::string_view member, const Delta& delta, std::string& out) {
  begin_chunk(out);
  out += member;
  delta.text.append_json(out);
  out += '}';
  end_chunk(out);
}

void ChatStreamWriter::write_thought(OpenBlock& block, const Delta& delta, std::string& out) {
  const bool section = delta.new_section && block.text_bytes > 0;
  begin_chunk(out);
  append(out, section ? R"({"reasoning_content":"\n\n)" : R"({"reasoning_content":")");
  delta.text.append_escaped(out);
  append(out, "\"}");
  end_chunk(out);
  const bool as_is = delta.text.bytes().find('\\') == std::string_view::npos;
  block.text_bytes += as_is ? delta.text.bytes().size() : delta.text.str().size();
  block.text_bytes += section ? 2 : 0;
}

// A fragment of a call's arguments, or of the free text that they hold.
void ChatStreamWriter::write_arguments(OpenBlock& block, const Text& text, std::string& out) {
  std::string free_text;
  if (block.wrapped) {
    block.input.feed(text.str(), free_text);
    if (free_text.empty()) return;
  }
  block.said = true;
  begin_chunk(out);
  append(out, R"({"tool_calls":[{"index":)");
  append(out, block.call);
  append(out, block.custom ? R"(,"custom":{"input":)" : R"(,"function":{"arguments":)");
  (block.wrapped ? Text::plain(free_text) : text).append_json(out);
  append(out, "}}]}");
  end_chunk(out);
}

void ChatStreamWriter::write_annotation(const Delta& delta, std::string& out) {
  std::string annotation;
  if (!append_annotation(annotation, delta.raw)) return fidelity_.lose(Feature::kCitations);
  begin_chunk(out);
  append(out, R"({"annotations":[)");
  append(out, annotation);
  append(out, "]}");
  end_chunk(out);
}

void ChatStreamWriter::write_logprobs(const Delta& delta, std::string& out) {
  begin_chunk(out);
  append(out, R"({},"logprobs":{"content":)");
  append(out, delta.raw);
  append(out, ",\"refusal\":null},\"finish_reason\":null}]}\n\n");
}

void ChatStreamWriter::end_block(uint32_t number, std::string& out) {
  for (auto block = open_.begin(); block != open_.end(); ++block) {
    if (block->block != number) continue;
    if (block->wrapped) {
      std::string rest;
      block->input.end(rest);
      block->wrapped = false;
      if (!rest.empty()) write_arguments(*block, Text::plain(rest), out);
    }
    // Clients parse what they have put together.
    const bool function = block->kind == BlockKind::kToolCall && !block->custom;
    if (function && !block->said) write_arguments(*block, Text::plain("{}"), out);
    if (!block->signature.empty()) write_ticket(*block, out);
    open_.erase(block);
    return;
  }
}

// What proves the thinking to its maker, for the client to keep.
void ChatStreamWriter::write_ticket(const OpenBlock& block, std::string& out) {
  std::string ticket;
  append_ticket(ticket, block.signature, block.text_bytes);
  begin_chunk(out);
  append(out, R"({"reasoning_details":[)");
  append_reasoning_detail(out, ticket, details_++);
  append(out, "]}");
  end_chunk(out);
  if (!tickets_.empty()) tickets_ += ' ';
  tickets_ += ticket;
}

void ChatStreamWriter::finish(const Finished& finished, std::string& out) {
  if (finished_) return;
  finished_ = true;
  begin_chunk(out);
  append(out, R"({},"logprobs":null,)");
  append_finish(out, finished, calls_ > 0);
  append(out, "}]}\n\n");
}

void ChatStreamWriter::write_usage(std::string& out) {
  append(out, "data: {");
  append_completion_head(out, "chat.completion.chunk", reply_);
  append(out, R"(,"choices":[],"usage":)");
  append_completion_usage(out, usage_.known());
  append(out, "}\n\n");
}

void ChatStreamWriter::end(std::string& out) {
  while (!open_.empty()) end_block(open_.front().block, out);
  finish(Finished(), out);
  if (reply_.include_usage) write_usage(out);
  append(out, "data: [DONE]\n\n");
}

void ChatStreamWriter::fail(const Error& error, std::string& out) {
  wire::append_error_event(out, Dialect::kOpenaiChat, error, reply_.request_id, nullptr);
  failed_ = true;
}

void ChatStreamWriter::write_failure(const Failed& failed, std::string& out) {
  wire::append_error_event(out, Dialect::kOpenaiChat,
                           wire::SpokenError(failed.family, 0, failed.words), reply_.request_id,
                           nullptr);
  failed_ = true;
}

void ChatStreamWriter::heartbeat(std::string& out) {
  wire::append_heartbeat(out, Dialect::kOpenaiChat, nullptr);
}

OpenBlock* ChatStreamWriter::find(uint32_t number) {
  for (OpenBlock& block : open_) {
    if (block.block == number) return &block;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<StreamWriter> make_chat_stream_writer(const Reply& reply, Fidelity& fidelity) {
  return std::make_unique<ChatStreamWriter>(reply, fidelity);
}

}  // namespace hw::translate
