#include "translate/answer_writer.h"

#include "base/assert.h"
#include "chat/dialect.h"
#include "messages/dialect.h"
#include "responses/dialect.h"

namespace hw::translate {

std::unique_ptr<StreamWriter> make_stream_writer(Dialect dialect, const Reply& reply,
                                                 Fidelity& fidelity) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
      return make_chat_stream_writer(reply, fidelity);
    case Dialect::kOpenaiResponses:
      return make_responses_stream_writer(reply, fidelity);
    case Dialect::kAnthropicMessages:
      return make_messages_stream_writer(reply, fidelity);
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      HW_ASSERT(false);
  }
  return nullptr;
}

void write_answer(Dialect dialect, const Events& events, const Reply& reply, Fidelity& fidelity,
                  std::string& out) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
      return write_chat_answer(events, reply, fidelity, out);
    case Dialect::kOpenaiResponses:
      return write_responses_answer(events, reply, fidelity, out);
    case Dialect::kAnthropicMessages:
      return write_messages_answer(events, reply, fidelity, out);
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      HW_ASSERT(false);
  }
}

}  // namespace hw::translate
