#include "wire/error_body.h"

#include <algorithm>

#include "base/assert.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/text.h"
#include "json/writer.h"

namespace hw::wire {
namespace {

constexpr Nanos kNanosPerSecond = 1'000'000'000;
// Longest piece of a model's name that a message repeats.
constexpr size_t kShownModelBytesMax = 128;

void field_or_null(json::Writer& writer, std::string_view name, const std::string& text) {
  writer.key(name);
  if (text.empty()) {
    writer.null();
  } else {
    writer.value(text);
  }
}

// {"error": {...}}
void append_openai_error(std::string& out, const SpokenError& error) {
  json::Writer writer(out);
  writer.begin_object();
  writer.key("error");
  writer.begin_object();
  writer.field("message", error.message);
  writer.field("type", error.openai_type);
  field_or_null(writer, "param", error.param);
  field_or_null(writer, "code", error.code);
  writer.end_object();
  writer.end_object();
}

// What makes the Anthropic SDK 1.x go on without server-side threads (`thread`).
void append_unsupported(json::Writer& writer, const std::string& field) {
  writer.key("details");
  writer.begin_object();
  writer.field("error_code", concat(field, "_unsupported_request"));
  writer.key("unsupported");
  writer.begin_array();
  writer.value(field);
  writer.end_array();
  writer.end_object();
}

// {"type": "error", "error": {...}, "request_id"}
void append_anthropic_error(std::string& out, const SpokenError& error,
                            std::string_view request_id) {
  json::Writer writer(out);
  writer.begin_object();
  writer.field("type", "error");
  writer.key("error");
  writer.begin_object();
  writer.field("type", error.anthropic_type);
  writer.field("message", error.message);
  if (!error.param.empty()) append_unsupported(writer, error.param);
  writer.end_object();
  writer.field("request_id", request_id);
  writer.end_object();
}

// The members of a response that nothing is known of but that it failed.
void append_unknown_response(json::Writer& writer, std::string_view request_id) {
  RequestId id;
  const bool ours = RequestId::parse(request_id, id);
  const std::string_view digits = request_id.substr(request_id.find('_') + 1);
  writer.field("id", concat("resp_", digits));
  writer.field("object", "response");
  writer.field("created_at", ours ? id.wall() / kNanosPerSecond : Nanos{0});
  writer.field("model", "");
  writer.key("output");
  writer.begin_array();
  writer.end_array();
  writer.field_null("incomplete_details");
  writer.field_null("usage");
}

// The members of the response that the upstream created, but for those that say how it ended.
void append_known_response(json::Writer& writer, json::Document& document) {
  document.root().each([&](std::string_view key, const json::Value& value) {
    const std::string_view raw = value.raw();
    if (key != "status" && key != "error" && !raw.empty()) writer.field_raw(key, raw);
  });
}

void append_failed_response(std::string& out, const SpokenError& error, std::string_view request_id,
                            const StreamObserver* observer) {
  const int64_t sequence = observer == nullptr ? -1 : observer->sequence_number();
  std::string_view known;
  if (observer != nullptr) known = observer->response_object();
  json::Document document;
  json::Writer writer(out);
  writer.begin_object();
  writer.field("type", "response.failed");
  writer.field("sequence_number", sequence + 1);
  writer.key("response");
  writer.begin_object();
  if (!known.empty() && document.open(known)) {
    append_known_response(writer, document);
  } else {
    append_unknown_response(writer, request_id);
  }
  writer.field("status", "failed");
  writer.key("error");
  writer.begin_object();
  writer.field("code", error.code.empty() ? error.openai_type : error.code);
  writer.field("message", error.message);
  writer.end_object();
  writer.end_object();
  writer.end_object();
}

}  // namespace

void append_error_body(std::string& out, Dialect dialect, const Error& error,
                       std::string_view request_id) {
  append_error_body(out, dialect, SpokenError(error), request_id);
}

void append_error_body(std::string& out, Dialect dialect, const SpokenError& error,
                       std::string_view request_id) {
  switch (family_of(dialect)) {
    case Family::kOpenai:
      return append_openai_error(out, error);
    case Family::kAnthropic:
      return append_anthropic_error(out, error, request_id);
  }
}

void append_error_event(std::string& out, Dialect dialect, const Error& error,
                        std::string_view request_id, const StreamObserver* observer) {
  append_error_event(out, dialect, SpokenError(error), request_id, observer);
}

void append_error_event(std::string& out, Dialect dialect, const SpokenError& error,
                        std::string_view request_id, const StreamObserver* observer) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      out += "data: ";
      append_openai_error(out, error);
      break;
    case Dialect::kOpenaiResponses:
      out += "event: response.failed\ndata: ";
      append_failed_response(out, error, request_id, observer);
      break;
    case Dialect::kAnthropicMessages:
      out += "event: error\ndata: ";
      append_anthropic_error(out, error, request_id);
      break;
  }
  out += "\n\n";
}

namespace {

// After the response has been created.
void append_response_heartbeat(std::string& out, const StreamObserver& observer) {
  const std::string_view type = observer.output_begun() ? "keepalive" : "response.in_progress";
  out += concat("event: ", type, "\ndata: {\"type\":\"", type,
                "\",\"sequence_number\":", std::max<int64_t>(observer.sequence_number(), 0));
  if (!observer.output_begun()) out += concat(",\"response\":", observer.response_object());
  out += "}\n\n";
}

}  // namespace

void append_heartbeat(std::string& out, Dialect dialect, const StreamObserver* observer) {
  switch (dialect) {
    case Dialect::kAnthropicMessages:
      out += "event: ping\ndata: {\"type\": \"ping\"}\n\n";
      return;
    case Dialect::kOpenaiResponses:
      if (observer != nullptr && !observer->response_object().empty())
        return append_response_heartbeat(out, *observer);
      break;
    case Dialect::kOpenaiChat:
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiEmbeddings:
      break;
  }
  out += ": keep-alive\n\n";
}

Error unknown_model(std::string_view model) {
  std::string shown;
  keep(shown, model, kShownModelBytesMax);
  return Error(ErrorCode::kUnknownModel,
               concat("The model `", shown, "` does not exist or you do not have access to it. ",
                      "GET /v1/models lists those that there are."));
}

}  // namespace hw::wire
