#include <memory>
#include <variant>

#include "base/text.h"
#include "chat/blocks.h"
#include "chat/dialect.h"
#include "wire/repeat_pattern.h"
#include "wire/usage.h"

namespace hw::translate {
namespace {

constexpr std::string_view kDone = "[DONE]";
constexpr std::string_view kErrorType = "error";
constexpr std::string_view kFailedReason = "error";  // OpenRouter's finish_reason

// The members of a chunk.
struct Chunk {
  json::Value id, model, choices, usage, error, object;
};

Chunk chunk_of(json::Object root) {
  Chunk chunk;
  root.each([&](std::string_view key, const json::Value& value) {
    if (key == "id")
      chunk.id = value;
    else if (key == "model")
      chunk.model = value;
    else if (key == "choices")
      chunk.choices = value;
    else if (key == "usage")
      chunk.usage = value;
    else if (key == "error")
      chunk.error = value;
    else if (key == "object")
      chunk.object = value;
  });
  return chunk;
}

// The members of a choice.
struct Choice {
  json::Value index, delta, logprobs, finish_reason, stop_reason, matched_stop;
};

Choice choice_of(json::Object object) {
  Choice choice;
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "delta")
      choice.delta = value;
    else if (key == "finish_reason")
      choice.finish_reason = value;
    else if (key == "index")
      choice.index = value;
    else if (key == "logprobs")
      choice.logprobs = value;
    else if (key == "stop_reason")
      choice.stop_reason = value;
    else if (key == "matched_stop")
      choice.matched_stop = value;
  });
  return choice;
}

class ChatStreamReader final : public StreamReader {
 public:
  void read(const http::SseEvent& event, Events& out) override;
  void end(Events& out) override;

 private:
  bool read_alike(const http::SseEvent& event, Events& out);
  void learn(const http::SseEvent& event, const Events& out, size_t before);
  void read_chunk(json::Object root, Events& out);
  void read_choice(json::Object object, Events& out);
  void begin(const Chunk& chunk, Events& out);
  void fail(wire::ErrorWords words, Events& out);

  ChatBlocks blocks_;
  wire::RepeatPattern pattern_;  // chunks that say more of block_ and nothing else
  uint32_t block_ = 0;
  wire::Usage usage_;
  bool begun_ = false;
  bool finished_ = false;
  bool failed_ = false;
};

void ChatStreamReader::read(const http::SseEvent& event, Events& out) {
  if (read_alike(event, out)) return;
  if (failed_ || trim(event.data) == kDone) return;
  json::Document document(ErrorCode::kUpstreamDialect);
  const bool open = document.open(event.data).has_value();
  if (event.type == kErrorType) {
    wire::ErrorWords words;
    if (open) wire::read_error(document.root(), words);
    const json::Value error = open ? document.root().find("error") : json::Value();
    if (!error.is_null()) wire::read_error(error, words);
    if (words.message.empty()) words.message = wire::excerpt(event.data);
    return fail(std::move(words), out);
  }
  if (!open) return;
  const size_t before = out.size();
  read_chunk(document.root(), out);
  if (document.finish()) learn(event, out, before);
}

// Chunks mostly differ in their text alone; such a one needs no reading.
bool ChatStreamReader::read_alike(const http::SseEvent& event, Events& out) {
  const size_t size = blocks_.flows(block_) && !failed_ ? pattern_.match(event) : 0;
  if (size == 0) return false;
  Delta delta;
  delta.block = block_;
  delta.text = Text::escaped(event.data.substr(pattern_.text_offset(), size));
  out.emplace_back(delta);
  return true;
}

void ChatStreamReader::learn(const http::SseEvent& event, const Events& out, size_t before) {
  const Delta* delta = out.size() == before + 1 ? std::get_if<Delta>(&out.back()) : nullptr;
  if (delta == nullptr || delta->kind != Delta::Kind::kText || !blocks_.flows(delta->block)) return;
  if (!blocks_.said_only_text()) return;
  block_ = delta->block;
  pattern_.learn(event, delta->text.bytes(), wire::TokenChannel::kContent);
}

void ChatStreamReader::read_chunk(json::Object root, Events& out) {
  const Chunk chunk = chunk_of(root);
  wire::ErrorWords words;
  if (!chunk.error.is_null()) {
    wire::read_error(chunk.error, words);
    return fail(std::move(words), out);
  }
  if (chunk.object.text_or("") == "error") {  // vLLM before 0.11: type, code, message beside it
    wire::read_error(root, words);
    return fail(std::move(words), out);
  }
  const size_t before = out.size();
  bool choices = false;
  chunk.choices.array().each([&](const json::Value& choice) {
    if (!begun_) begin(chunk, out);
    choices = true;
    read_choice(choice.object(), out);
  });
  if (!begun_ || failed_) return;
  if (chunk.usage.kind() == json::Kind::kObject) {
    const wire::Usage known = usage_;
    wire::read_usage(Dialect::kOpenaiChat, chunk.usage.object(), usage_);
    Used used;
    used.usage = usage_;
    if (usage_ != known) out.emplace_back(used);
  }
  if (choices && out.size() == before) out.emplace_back(Ping());
}

void ChatStreamReader::begin(const Chunk& chunk, Events& out) {
  begun_ = true;
  Started started;
  if (chunk.id.has_text()) started.id = Text::of(chunk.id);
  if (chunk.model.has_text()) started.model = Text::of(chunk.model);
  blocks_.set_id(started.id);
  out.emplace_back(started);
}

// Of the first choice only, until it is finished.
void ChatStreamReader::read_choice(json::Object object, Events& out) {
  const Choice choice = choice_of(object);
  if (finished_ || failed_ || choice.index.integer().value_or(0) != 0) return;
  blocks_.read_message(choice.delta.object(), out);
  if (!choice.logprobs.is_null()) blocks_.read_logprobs(choice.logprobs.object(), out);
  if (!choice.finish_reason.has_text()) return;
  if (choice.finish_reason.text_or("") == kFailedReason) {
    wire::ErrorWords words;
    words.message = "the answer ended with finish_reason \"error\"";
    return fail(std::move(words), out);
  }
  finished_ = true;
  const bool matched = choice.matched_stop.has_text();
  blocks_.finish(choice.finish_reason.text_or(""),
                 matched ? choice.matched_stop : choice.stop_reason, out);
}

void ChatStreamReader::fail(wire::ErrorWords words, Events& out) {
  failed_ = true;
  Failed failed;
  failed.words = std::move(words);
  out.emplace_back(std::move(failed));
}

void ChatStreamReader::end(Events& out) {
  if (failed_ || finished_) return;
  if (!begun_) begin(Chunk(), out);
  finished_ = true;
  blocks_.finish("", json::Value(), out);
}

}  // namespace

std::unique_ptr<StreamReader> make_chat_stream_reader() {
  return std::make_unique<ChatStreamReader>();
}

}  // namespace hw::translate
