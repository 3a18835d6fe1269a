// Writes a whole answer of responses: what its stream would have ended with.
#include "translate/answer_writer.h"
#include "translate/responses_stream_writer.h"

namespace hw::translate {

void write_responses_answer(const Events& events, const Reply& reply, Fidelity& fidelity,
                            std::string& out) {
  ResponsesStreamWriter writer(reply, fidelity);
  std::string stream;
  for (const Event& event : events) {
    writer.write(event, stream);
    stream.clear();
  }
  writer.end(stream);
  writer.append_response(out);
}

}  // namespace hw::translate
