#include "translate/request_reader.h"

#include "base/assert.h"
#include "chat/dialect.h"
#include "json/check.h"
#include "json/scan.h"
#include "messages/dialect.h"
#include "responses/dialect.h"

namespace hw::translate {

Status read_request(Dialect dialect, std::string_view body, Request& out) {
  if (!json::is_json_object(body)) {
    return fail(ErrorCode::kBadRequest, "Your request: the body is not a JSON object");
  }
  json::Document document;
  if (const Status opened = document.open(body); !opened) return opened;
  out.dialect = dialect;
  Status read;
  switch (dialect) {
    case Dialect::kOpenaiChat:
      read = read_chat_request(document.root(), out);
      break;
    case Dialect::kOpenaiResponses:
      read = read_responses_request(document.root(), out);
      break;
    case Dialect::kAnthropicMessages:
      read = read_messages_request(document.root(), out);
      break;
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      HW_ASSERT(false);
      break;
  }
  if (!read) return read;
  return document.finish();
}

}  // namespace hw::translate
