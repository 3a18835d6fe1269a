// Reads a whole answer of responses.
#include "translate/answer_reader.h"
#include "translate/responses_output_reader.h"

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

}  // namespace hw::translate
