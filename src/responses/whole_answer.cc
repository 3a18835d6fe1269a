// Reads and writes a whole answer of responses.
#include "responses/dialect.h"
#include "responses/output_reader.h"
#include "responses/stream_writer.h"

namespace hw::translate {

Status read_responses_answer(json::Object root, Events& out) {
  Started started;
  json::Value output, error;
  json::Object members = root;
  members.each([&](std::string_view key, const json::Value& value) {
    if (key == "id") {
      started.id = Text::of(value);
    } else if (key == "model") {
      started.model = Text::of(value);
    } else if (key == "output") {
      output = value;
    } else if (key == "error") {
      error = value;
    } else if (key == "usage") {
      wire::read_usage(Dialect::kOpenaiResponses, value.object(), started.usage);
    }
  });
  if (output.kind() != json::Kind::kArray && error.is_null())
    return fail(ErrorCode::kUpstreamDialect, "the answer has no `output`");
  out.push_back(started);
  OutputSoFar so_far;
  output.array().each([&](const json::Value& item) { read_responses_item(item, so_far, out); });
  read_responses_end(root, so_far, out);
  return {};
}

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
