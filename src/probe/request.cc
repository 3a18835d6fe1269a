#include "probe/request.h"

#include "base/text.h"
#include "json/writer.h"

namespace hw::probe {
namespace {

constexpr std::string_view kPrompt = "Count from one to thirty in words, separated by commas.";
// Chat models end at once where they are handed a finished sentence as plain text.
constexpr std::string_view kTextToContinue = "one, two, three, four, five, six,";

void write_messages(json::Writer& writer, std::string_view member) {
  writer.key(member);
  writer.begin_array();
  writer.begin_object();
  writer.field("role", "user");
  writer.field("content", kPrompt);
  writer.end_object();
  writer.end_array();
}

}  // namespace

std::string compose_body(Dialect dialect, std::string_view model, bool streamed, int max_tokens,
                         TokenLimit limit) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.field("model", model);
  switch (dialect) {
    case Dialect::kOpenaiChat:
      write_messages(writer, "messages");
      writer.field(limit == TokenLimit::kMaxTokens ? "max_tokens" : "max_completion_tokens",
                   max_tokens);
      break;
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      writer.field("prompt", kTextToContinue);
      writer.field("max_tokens", max_tokens);
      break;
    case Dialect::kOpenaiResponses:
      writer.field("input", kPrompt);
      writer.field("max_output_tokens", max_tokens);
      break;
    case Dialect::kAnthropicMessages:
      write_messages(writer, "messages");
      writer.field("max_tokens", max_tokens);
      break;
  }
  if (streamed) writer.field("stream", true);
  writer.end_object();
  return out;
}

KeyHeader usual_key_header(Dialect dialect) {
  return family_of(dialect) == Family::kAnthropic ? KeyHeader::kXApiKey : KeyHeader::kBearer;
}

std::string compose_head(const Request& request, HeadForm form,
                         std::string_view proxy_authorization) {
  const std::string origin = origin_of(request.url);
  const std::string_view host = std::string_view(origin).substr(origin.find("://") + 3);
  std::string out =
      concat(request.method, " ", form == HeadForm::kAbsolute ? origin : std::string(),
             request.target, " HTTP/1.1\r\nHost: ", host,
             "\r\nUser-Agent: headway-verify\r\nAccept: application/json, text/event-stream\r\n"
             "Accept-Encoding: identity\r\n");
  if (!request.key.empty()) {
    out += concat(key_header_name(request.key_header),
                  request.key_header == KeyHeader::kBearer ? " " : ": ", request.key, "\r\n");
  }
  if (family_of(request.dialect) == Family::kAnthropic) out += "anthropic-version: 2023-06-01\r\n";
  if (!proxy_authorization.empty()) {
    out += concat("Proxy-Authorization: ", proxy_authorization, "\r\n");
  }
  if (!request.body.empty()) {
    out +=
        concat("Content-Type: application/json\r\nContent-Length: ", request.body.size(), "\r\n");
  }
  return out + "\r\n";
}

std::string models_target(const BaseUrl& base_url, Dialect dialect) {
  return concat(base_url.path, family_of(dialect) == Family::kAnthropic ? "/v1/models" : "/models");
}

}  // namespace hw::probe
