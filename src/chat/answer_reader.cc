#include "base/text.h"
#include "chat/blocks.h"
#include "chat/dialect.h"
#include "wire/usage.h"

namespace hw::translate {
namespace {

// Of a first choice: its message, and why it ends.
void read_choice(json::Object choice, const Started& started, Events& out) {
  ChatBlocks blocks;
  blocks.set_id(started.id);
  json::Value message, logprobs, reason, stop;
  choice.each([&](std::string_view key, const json::Value& value) {
    if (key == "message") message = value;
    if (key == "logprobs") logprobs = value;
    if (key == "finish_reason") reason = value;
    if ((key == "stop_reason" || key == "matched_stop") && value.has_text()) stop = value;
  });
  blocks.read_message(message.object(), out);
  if (!logprobs.is_null()) blocks.read_logprobs(logprobs.object(), out);
  blocks.finish(reason.text_or(""), stop, out);
}

}  // namespace

Status read_chat_answer(json::Object root, Events& out) {
  Started started;
  json::Value choices, usage, error;
  root.each([&](std::string_view key, const json::Value& value) {
    if (key == "id" && value.has_text()) started.id = Text::of(value);
    if (key == "model" && value.has_text()) started.model = Text::of(value);
    if (key == "choices") choices = value;
    if (key == "usage") usage = value;
    if (key == "error") error = value;
  });
  if (!error.is_null()) {
    wire::ErrorWords words;
    wire::read_error(error, words);
    return fail(ErrorCode::kUpstreamDialect, concat("the answer is an error: ", words.message));
  }
  const json::Value first = choices.array().first();
  if (first.object().find("message").kind() != json::Kind::kObject)
    return fail(ErrorCode::kUpstreamDialect, "the answer has no choices with a message");
  Used used;
  if (usage.kind() == json::Kind::kObject)
    wire::read_usage(Dialect::kOpenaiChat, usage.object(), used.usage);
  started.usage = used.usage;
  out.emplace_back(started);
  read_choice(first.object(), started, out);
  if (used.usage.told) out.emplace_back(used);
  return {};
}

}  // namespace hw::translate
