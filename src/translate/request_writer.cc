#include "translate/request_writer.h"

#include <algorithm>

#include "base/assert.h"

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

void write_other_fields(const Request& request, const Target& target, Fidelity& fidelity,
                        json::Writer& writer) {
  for (const OtherField& field : request.others) {
    const auto& extra = target.extra_fields;
    if (std::find(extra.begin(), extra.end(), field.name) != extra.end()) {
      writer.field_raw(field.name, field.value);
    } else {
      fidelity.meet(field.feature, field.name);
    }
  }
}

}  // namespace hw::translate
