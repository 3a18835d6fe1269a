#include "translate/answer_reader.h"

#include "base/assert.h"
#include "chat/dialect.h"
#include "json/check.h"
#include "messages/dialect.h"
#include "responses/dialect.h"

namespace hw::translate {

std::unique_ptr<StreamReader> make_stream_reader(Dialect dialect) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
      return make_chat_stream_reader();
    case Dialect::kOpenaiResponses:
      return make_responses_stream_reader();
    case Dialect::kAnthropicMessages:
      return make_messages_stream_reader();
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      HW_ASSERT(false);
  }
  return nullptr;
}

Status read_answer(Dialect dialect, std::string_view body, Events& out) {
  if (!json::is_json_object(body)) {
    return fail(ErrorCode::kUpstreamDialect, "the answer is not a JSON object");
  }
  json::Document document(ErrorCode::kUpstreamDialect);
  if (const Status opened = document.open(body); !opened) return opened;
  switch (dialect) {
    case Dialect::kOpenaiChat:
      return read_chat_answer(document.root(), out);
    case Dialect::kOpenaiResponses:
      return read_responses_answer(document.root(), out);
    case Dialect::kAnthropicMessages:
      return read_messages_answer(document.root(), out);
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      HW_ASSERT(false);
  }
  return {};
}

}  // namespace hw::translate
