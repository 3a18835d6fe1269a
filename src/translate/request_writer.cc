#include "translate/request_writer.h"

#include "base/assert.h"
#include "chat/dialect.h"
#include "messages/dialect.h"
#include "responses/dialect.h"

namespace hw::translate {

void write_request(Dialect dialect, const Request& request, const Target& target,
                   Fidelity& fidelity, std::string& out) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
      return write_chat_request(request, target, fidelity, out);
    case Dialect::kOpenaiResponses:
      return write_responses_request(request, target, fidelity, out);
    case Dialect::kAnthropicMessages:
      return write_messages_request(request, target, fidelity, out);
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      HW_ASSERT(false);
  }
}

}  // namespace hw::translate
