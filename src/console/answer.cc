#include "console/answer.h"

#include "json/writer.h"

namespace hw::console {

ApiResponse json_answer(std::string json, int status) {
  ApiResponse out;
  out.status = status;
  out.body = std::move(json);
  out.body += '\n';
  return out;
}

ApiResponse error_answer(const Error& error) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  writer.key("error");
  writer.begin_object();
  writer.field("code", error.name());
  writer.field("message", error.message);
  writer.field("type", error_info(error.code).openai_type);
  writer.end_object();
  writer.end_object();
  return json_answer(std::move(body), error.status());
}

}  // namespace hw::console
