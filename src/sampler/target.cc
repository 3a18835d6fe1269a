#include "sampler/target.h"

#include "base/text.h"
#include "http/writer.h"
#include "json/check.h"
#include "json/writer.h"

namespace hw::sampler {
namespace {

constexpr std::string_view kV1 = "/v1";

// OpenAI's SDKs take a base URL with /v1 and Anthropic's one without; people have one of the two.
probe::BaseUrl understood(const probe::BaseUrl& given, Dialect dialect) {
  std::string path = given.path;
  if (given.names_endpoint) path.resize(path.size() - given.endpoint_bytes);
  if (family_of(dialect) == Family::kAnthropic) {
    if (path.ends_with(kV1)) path.resize(path.size() - kV1.size());
  } else if (path.empty()) {
    path = kV1;
  }
  return probe::inspect_base_url(concat(probe::origin_of(given), path));
}

std::string_view fault_words(probe::BaseUrl::Fault fault) {
  switch (fault) {
    case probe::BaseUrl::Fault::kNone:
      return "";
    case probe::BaseUrl::Fault::kEmpty:
      return "is empty";
    case probe::BaseUrl::Fault::kNoScheme:
      return "does not begin with http:// or https://";
    case probe::BaseUrl::Fault::kBlank:
      return "has a blank or a control character in it";
    case probe::BaseUrl::Fault::kNoHost:
      return "has no host";
    case probe::BaseUrl::Fault::kBadPort:
      return "has a port that is none";
    case probe::BaseUrl::Fault::kUserInIt:
      return "has a user in it";
  }
  return "";
}

void write_messages(json::Writer& writer, std::string_view text) {
  writer.key("messages");
  writer.begin_array();
  writer.begin_object();
  writer.field("role", "user");
  writer.field("content", text);
  writer.end_object();
  writer.end_array();
}

// Usage in the last chunk, without which tokens would have to be guessed.
void write_usage_option(json::Writer& writer) {
  writer.key("stream_options");
  writer.begin_object();
  writer.field("include_usage", true);
  writer.end_object();
}

// The members of an object in JSON, without its braces.
std::string_view members_of(std::string_view object) {
  object = object.substr(object.find('{') + 1);
  object = object.substr(0, object.rfind('}'));
  while (!object.empty() && static_cast<unsigned char>(object.back()) <= ' ') {
    object.remove_suffix(1);
  }
  return object;
}

}  // namespace

Result<Target> Target::make(TargetSettings settings, const probe::ProxyChoice& proxy) {
  Target out;
  const probe::BaseUrl given = probe::inspect_base_url(settings.base_url);
  if (given.fault != probe::BaseUrl::Fault::kNone) {
    return fail(ErrorCode::kConfig,
                concat("the base URL \"", settings.base_url, "\" ", fault_words(given.fault)));
  }
  if (settings.dialect == Dialect::kOpenaiEmbeddings) {
    return fail(ErrorCode::kConfig, "embeddings have no tokens to time");
  }
  out.url_ = understood(given, settings.dialect);
  out.path_ = probe::literal_target(out.url_, settings.dialect);
  out.proxy_ = proxy;
  std::string scratch;
  if (!http::append_checked_field(scratch, "authorization", settings.key)) {
    return fail(ErrorCode::kConfig, "the key has a character that no header can hold");
  }
  for (const auto& [name, value] : settings.headers) {
    if (http::append_checked_field(scratch, name, value)) continue;
    return fail(ErrorCode::kConfig, concat("\"", name, "\" is no header that can be sent"));
  }
  if (!settings.extra_body.empty() && !json::is_json_object(settings.extra_body)) {
    return fail(ErrorCode::kConfig, "the extra body is no JSON object");
  }
  out.settings_ = std::move(settings);
  return out;
}

std::string Target::address() const {
  return probe::origin_of(url_) + path_;
}

std::string Target::compose_body(const Prompt& prompt, Delivery delivery) const {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.field("model", settings_.model);
  const bool streamed = delivery == Delivery::kStreamed;
  switch (settings_.dialect) {
    case Dialect::kOpenaiChat:
      write_messages(writer, prompt.text);
      writer.field(settings_.token_limit == probe::TokenLimit::kMaxTokens ? "max_tokens"
                                                                          : "max_completion_tokens",
                   prompt.max_tokens);
      if (streamed) write_usage_option(writer);
      break;
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      writer.field("prompt", prompt.text);
      writer.field("max_tokens", prompt.max_tokens);
      if (streamed) write_usage_option(writer);
      break;
    case Dialect::kOpenaiResponses:
      writer.field("input", prompt.text);
      writer.field("max_output_tokens", prompt.max_tokens);
      break;
    case Dialect::kAnthropicMessages:
      write_messages(writer, prompt.text);
      writer.field("max_tokens", prompt.max_tokens);
      break;
  }
  if (streamed) writer.field("stream", true);
  writer.end_object();
  const std::string_view extra = members_of(settings_.extra_body);
  if (!extra.empty()) {
    out.back() = ',';
    out.append(extra).append("}");
  }
  return out;
}

void Target::append_head(std::string& out, std::string_view method, std::string_view path) const {
  const std::string origin = probe::origin_of(url_);
  const bool absolute = proxy_.kind == probe::ProxyChoice::Kind::kHttp && !url_.tls;
  out += concat(method, " ", absolute ? origin : std::string(), path,
                " HTTP/1.1\r\nhost: ", std::string_view(origin).substr(origin.find("://") + 3),
                "\r\nuser-agent: headway-sample\r\naccept-encoding: identity\r\n");
  if (!settings_.key.empty()) {
    const probe::KeyHeader header = probe::usual_key_header(settings_.dialect);
    out += concat(probe::key_header_name(header), header == probe::KeyHeader::kBearer ? " " : ": ",
                  settings_.key, "\r\n");
  }
  if (family_of(settings_.dialect) == Family::kAnthropic) {
    out += "anthropic-version: 2023-06-01\r\n";
  }
  if (absolute && !proxy_.authorization.empty()) {
    out += concat("proxy-authorization: ", proxy_.authorization, "\r\n");
  }
  if (settings_.reuse == Reuse::kNever) out += "connection: close\r\n";
  for (const auto& [name, value] : settings_.headers) out += concat(name, ": ", value, "\r\n");
}

std::string Target::compose(const Prompt& prompt, Delivery delivery) const {
  const std::string body = compose_body(prompt, delivery);
  std::string out;
  append_head(out, "POST", path_);
  out +=
      concat("accept: ", delivery == Delivery::kStreamed ? "text/event-stream" : "application/json",
             "\r\ncontent-type: application/json\r\ncontent-length: ", body.size(), "\r\n\r\n");
  return out + body;
}

std::string Target::compose_get(std::string_view target) const {
  std::string out;
  append_head(out, "GET", target);
  return out + "\r\n";
}

}  // namespace hw::sampler
