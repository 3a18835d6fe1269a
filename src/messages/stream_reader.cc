#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/check.h"
#include "json/scan.h"
#include "messages/blocks.h"
#include "messages/dialect.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

// Blocks come one after another; more that are open at once are nobody's.
constexpr size_t kOpenMax = 64;
constexpr size_t kSignatureBytesMax = size_t{4} << 20;

// One block of the upstream's that has not ended.
struct Open {
  int64_t index = 0;  // the upstream's
  uint32_t block = 0;
  BlockKind kind = BlockKind::kText;
  std::string signature;  // so far
};

class MessagesStreamReader final : public StreamReader {
 public:
  void read(const http::SseEvent& event, Events& out) override;
  void end(Events& out) override;

 private:
  void start(Events& out, json::Object message);
  void begin_block(int64_t index, const json::Value& block, Events& out);
  void read_first_text(const Open& open, const json::Value& block, Events& out);
  void read_delta(int64_t index, json::Object delta, Events& out);
  void read_text(const Open& open, const json::Value& value, Events& out);
  void end_block(int64_t index, Events& out);
  void end_block(Open& open, Events& out);
  void read_message_delta(json::Object delta, json::Object usage, Events& out);
  void finish(StopReason reason, Text stop_sequence, Events& out);
  Open* find(int64_t index);

  std::vector<Open> open_;
  uint32_t blocks_ = 0;
  wire::Usage usage_;
  bool started_ = false, called_ = false, finished_ = false, over_ = false;
};

void MessagesStreamReader::read(const http::SseEvent& event, Events& out) {
  json::Document document(ErrorCode::kUpstreamDialect);
  if (over_ || !document.open(event.data)) return;
  json::Value type, index, message, block, delta, usage, error;
  document.root().each([&](std::string_view key, const json::Value& value) {
    if (key == "type") type = value;
    if (key == "index") index = value;
    if (key == "message") message = value;
    if (key == "content_block") block = value;
    if (key == "delta") delta = value;
    if (key == "usage") usage = value;
    if (key == "error") error = value;
  });
  const std::string_view name = type.text_or(event.type);
  const int64_t at = index.integer().value_or(0);
  if (name == "content_block_delta") {
    read_delta(at, delta.object(), out);
  } else if (name == "content_block_start") {
    begin_block(at, block, out);
  } else if (name == "content_block_stop") {
    end_block(at, out);
  } else if (name == "message_start") {
    start(out, message.object());
  } else if (name == "message_delta") {
    read_message_delta(delta.object(), usage.object(), out);
  } else if (name == "message_stop") {
    over_ = true;
  } else if (name == "ping") {
    out.emplace_back(Ping{});
  } else if (name == "error" || (name.empty() && !error.is_null())) {
    Failed failed;
    failed.family = Family::kAnthropic;
    wire::read_error(error, failed.words);
    out.emplace_back(std::move(failed));
    over_ = true;
  }
}

void MessagesStreamReader::end(Events& out) {
  start(out, {});
  if (!finished_) finish(called_ ? StopReason::kToolUse : StopReason::kEnd, {}, out);
}

// Once, and also where the upstream leaves message_start out.
void MessagesStreamReader::start(Events& out, json::Object message) {
  if (std::exchange(started_, true)) return;
  Started started;
  message.each([&](std::string_view key, const json::Value& value) {
    if (key == "id") started.id = Text::of(value);
    if (key == "model") started.model = Text::of(value);
    if (key == "usage") wire::read_usage(Dialect::kAnthropicMessages, value.object(), usage_);
  });
  started.usage = usage_;
  out.emplace_back(started);
}

void MessagesStreamReader::begin_block(int64_t index, const json::Value& block, Events& out) {
  start(out, {});
  if (finished_ || open_.size() >= kOpenMax || find(index) != nullptr) return;
  BlockBegun begun = read_messages_block(block, out);
  begun.block = blocks_++;
  open_.push_back({index, begun.block, begun.kind, {}});
  called_ |= begun.kind == BlockKind::kToolCall;
  out.emplace_back(begun);
  read_first_text(open_.back(), block, out);
}

// What a block begins with is mostly empty; some servers put all of it there.
void MessagesStreamReader::read_first_text(const Open& open, const json::Value& block,
                                           Events& out) {
  block.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "text" && open.kind == BlockKind::kText) read_text(open, value, out);
    if (open.kind == BlockKind::kReasoning) {
      if (key == "thinking") read_text(open, value, out);
      if (key == "signature") open_.back().signature = value.text_or("");
      if (key == "data" && value.has_text())
        out.emplace_back(messages_signature(open.block, OpaqueKind::kRedacted,
                                            std::string(value.text_or("")), out));
    }
    if (key == "input" && open.kind == BlockKind::kToolCall && !value.object().empty() &&
        json::is_json_object(value.raw())) {
      Delta delta;
      delta.block = open.block;
      delta.text = Text::plain(value.raw());
      out.emplace_back(delta);
    }
  });
}

void MessagesStreamReader::read_delta(int64_t index, json::Object delta, Events& out) {
  Open* open = find(index);
  if (open == nullptr) return;
  delta.each([&](std::string_view key, const json::Value& value) {
    if ((key == "text" && open->kind == BlockKind::kText) ||
        (key == "thinking" && open->kind == BlockKind::kReasoning) ||
        (key == "partial_json" && open->kind == BlockKind::kToolCall)) {
      read_text(*open, value, out);
    } else if (key == "signature" && open->kind == BlockKind::kReasoning) {
      const std::string_view more = value.text_or("");
      if (open->signature.size() + more.size() <= kSignatureBytesMax) open->signature += more;
    } else if (key == "citation" && open->kind == BlockKind::kText &&
               json::is_json_object(value.raw())) {
      Delta citation;
      citation.block = open->block;
      citation.kind = Delta::Kind::kAnnotation;
      citation.raw = value.raw();
      out.emplace_back(citation);
    }
  });
}

void MessagesStreamReader::read_text(const Open& open, const json::Value& value, Events& out) {
  Delta delta;
  delta.block = open.block;
  delta.text = Text::of(value);
  if (!delta.text.empty()) out.emplace_back(delta);
}

void MessagesStreamReader::end_block(int64_t index, Events& out) {
  Open* open = find(index);
  if (open == nullptr) return;
  end_block(*open, out);
  open_.erase(open_.begin() + (open - open_.data()));
}

// A signature is told whole: an envelope holds all of it.
void MessagesStreamReader::end_block(Open& open, Events& out) {
  if (!open.signature.empty()) {
    out.emplace_back(
        messages_signature(open.block, OpaqueKind::kSignature, std::move(open.signature), out));
  }
  out.emplace_back(BlockEnded{open.block});
}

void MessagesStreamReader::read_message_delta(json::Object delta, json::Object usage, Events& out) {
  start(out, {});
  std::string_view reason;
  Text stop_sequence;
  delta.each([&](std::string_view key, const json::Value& value) {
    if (key == "stop_reason") reason = value.text_or("");
    if (key == "stop_sequence") stop_sequence = Text::of(value);
  });
  if (!reason.empty() && !finished_) finish(messages_stop_reason(reason), stop_sequence, out);
  if (usage.empty()) return;
  wire::read_usage(Dialect::kAnthropicMessages, usage, usage_);
  out.emplace_back(Used{usage_});
}

void MessagesStreamReader::finish(StopReason reason, Text stop_sequence, Events& out) {
  for (Open& open : open_) end_block(open, out);
  open_.clear();
  finished_ = true;
  out.emplace_back(Finished{reason, stop_sequence});
}

Open* MessagesStreamReader::find(int64_t index) {
  for (Open& open : open_) {
    if (open.index == index) return &open;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<StreamReader> make_messages_stream_reader() {
  return std::make_unique<MessagesStreamReader>();
}

}  // namespace hw::translate
