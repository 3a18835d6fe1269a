#include "wire/error_body.h"

#include <doctest/doctest.h>

#include "base/ids.h"
#include "json/check.h"
#include "wire/answer_facts.h"
#include "wire/upstream_error.h"

namespace hw::wire {
namespace {

constexpr std::string_view kId = "req_01HZZZZZZZ0000000000000000";
constexpr Dialect kDialects[] = {Dialect::kOpenaiChat, Dialect::kOpenaiCompletions,
                                 Dialect::kOpenaiResponses, Dialect::kOpenaiEmbeddings,
                                 Dialect::kAnthropicMessages};

std::string body_of(Dialect dialect, const Error& error) {
  std::string out;
  append_error_body(out, dialect, error, kId);
  return out;
}

std::string event_of(Dialect dialect, const Error& error, const StreamObserver* observer) {
  std::string out;
  append_error_event(out, dialect, error, kId, observer);
  return out;
}

std::string heartbeat_of(Dialect dialect, const StreamObserver* observer) {
  std::string out;
  append_heartbeat(out, dialect, observer);
  return out;
}

// A responses stream whose created event has this response object.
StreamObserver after_created(std::string_view response) {
  StreamObserver observer(Dialect::kOpenaiResponses);
  const std::string event =
      "data: {\"type\":\"response.created\",\"sequence_number\":4,\"response\":" +
      std::string(response) + "}\n\n";
  REQUIRE(observer.feed(event).has_value());
  return observer;
}

}  // namespace

TEST_CASE("an error body has its family's shape") {
  const Error error(ErrorCode::kUnauthorized, "no \"key\"\n");
  CHECK(body_of(Dialect::kOpenaiChat, error) ==
        R"({"error":{"message":"no \"key\"\n","type":"authentication_error","param":null,)"
        R"("code":"invalid_api_key"}})");
  CHECK(body_of(Dialect::kAnthropicMessages, error) ==
        R"({"type":"error","error":{"type":"authentication_error","message":"no \"key\"\n"},)"
        R"("request_id":"req_01HZZZZZZZ0000000000000000"})");
}

TEST_CASE("every error of the table is read back as its family's own in every dialect") {
  for (int code = 0; code < kErrorCodeCount; ++code) {
    const Error error(static_cast<ErrorCode>(code), "what happened \xff\x01");
    for (const Dialect dialect : kDialects) {
      const UpstreamErrorBody read = read_error_body(family_of(dialect), body_of(dialect, error));
      CHECK(read.shape == ErrorShape::kFamily);
      CHECK(read.words.message.find("what happened") == 0);
    }
  }
}

TEST_CASE("an error event is one event that its own dialect's observer knows as an error") {
  const Error error(ErrorCode::kTimeoutSilence, "channel 'a' was silent for 120 s\ndata: x");
  for (const Dialect dialect : kDialects) {
    if (dialect == Dialect::kOpenaiEmbeddings) continue;
    StreamObserver observer(dialect);
    const std::string text = event_of(dialect, error, nullptr);
    const auto events = observer.feed(text);
    REQUIRE(events.has_value());
    REQUIRE(events->size() == 1);
    CHECK((*events)[0].error);
    CHECK_FALSE((*events)[0].token);
    CHECK((*events)[0].end == text.size());
    CHECK(observer.error_words().message == error.message);
    // Only responses have an event that both fails and ends; nothing else may look complete.
    CHECK(observer.finished() == (dialect == Dialect::kOpenaiResponses));
    CHECK(text.find("[DONE]") == text.npos);
  }
}

TEST_CASE("a failed response continues the id and the sequence that the client has seen") {
  const StreamObserver observer = after_created(
      R"({"id":"resp_9","object":"response","created_at":5,"status":"in_progress","error":null,)"
      R"("model":"m","output":[]})");
  const Error error(ErrorCode::kUpstreamUnfinished, "it broke");
  CHECK(event_of(Dialect::kOpenaiResponses, error, &observer) ==
        "event: response.failed\n"
        R"(data: {"type":"response.failed","sequence_number":5,"response":{"id":"resp_9",)"
        R"("object":"response","created_at":5,"model":"m","output":[],"status":"failed",)"
        R"("error":{"code":"channel_unfinished","message":"it broke"}}})"
        "\n\n");
}

TEST_CASE("a failed response without a created one makes its id and time from the request's") {
  RequestId id;
  Random random(1);
  id = RequestId::make(1'700'000'000'000'000'000, random);
  std::string out;
  append_error_event(out, Dialect::kOpenaiResponses, Error(ErrorCode::kConnect, "no"), id.view(),
                     nullptr);
  CHECK(out.find("\"sequence_number\":0") != out.npos);
  CHECK(out.find("\"id\":\"resp_" + std::string(id.view().substr(4)) + "\"") != out.npos);
  CHECK(out.find("\"created_at\":1700000000") != out.npos);
}

TEST_CASE("heartbeats are a ping, a comment, or a repeated in_progress") {
  CHECK(heartbeat_of(Dialect::kAnthropicMessages, nullptr) ==
        "event: ping\ndata: {\"type\": \"ping\"}\n\n");
  CHECK(heartbeat_of(Dialect::kOpenaiChat, nullptr) == ": keep-alive\n\n");
  CHECK(heartbeat_of(Dialect::kOpenaiCompletions, nullptr) == ": keep-alive\n\n");
  CHECK(heartbeat_of(Dialect::kOpenaiResponses, nullptr) == ": keep-alive\n\n");
  const StreamObserver fresh(Dialect::kOpenaiResponses);
  CHECK(heartbeat_of(Dialect::kOpenaiResponses, &fresh) == ": keep-alive\n\n");
  const StreamObserver observer = after_created(R"({"id":"resp_9"})");
  CHECK(heartbeat_of(Dialect::kOpenaiResponses, &observer) ==
        "event: response.in_progress\n"
        R"(data: {"type":"response.in_progress","sequence_number":4,"response":{"id":"resp_9"}})"
        "\n\n");
}

TEST_CASE("once output has begun no heartbeat of responses says that there is none") {
  StreamObserver observer = after_created(R"({"id":"resp_9","output":[]})");
  REQUIRE(observer
              .feed("data: {\"type\":\"response.output_item.added\",\"sequence_number\":5,"
                    "\"output_index\":0,\"item\":{\"type\":\"message\"}}\n\n")
              .has_value());
  CHECK(heartbeat_of(Dialect::kOpenaiResponses, &observer) ==
        "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":5}\n\n");
}

TEST_CASE("no heartbeat is a token, an end or an error to its own dialect") {
  for (const Dialect dialect : kDialects) {
    const StreamObserver created = after_created(R"({"id":"resp_9"})");
    StreamObserver client(dialect);
    const auto events = client.feed(heartbeat_of(dialect, &created));
    REQUIRE(events.has_value());
    for (const EventFacts& event : *events) {
      CHECK_FALSE((event.token || event.terminal || event.error || event.usage_only));
    }
    CHECK(client.at_boundary());
  }
}

TEST_CASE("a long response object is kept short, with its id, and stays valid JSON") {
  std::string response = R"({"tools":[)";
  for (int i = 0; i < 3000; ++i) response += R"({"name":"t"},)";
  response += R"({}],"instructions":")" + std::string(5000, 'i') + "\"";
  for (int i = 0; i < 500; ++i) response += ",\"m" + std::to_string(i) + "\":\"v\"";
  response += R"(,"text":{"format":")" + std::string(400, 'f') + R"("},"id":"resp_long"})";
  const StreamObserver observer = after_created(response);
  CHECK(observer.response_object().size() <= 2300);
  CHECK(json::is_json_object(observer.response_object()));
  CHECK(observer.response_object().find(R"("id":"resp_long")") == 1);
  CHECK(observer.response_object().find(R"("tools":[])") != std::string::npos);
  CHECK(observer.response_object().find(R"("instructions":null)") != std::string::npos);
}

TEST_CASE("a response object that came over several data lines is repeated on one") {
  StreamObserver observer(Dialect::kOpenaiResponses);
  REQUIRE(observer
              .feed("data: {\"type\":\"response.created\",\ndata: \"response\":{\"id\":\n"
                    "data: \"r\"}}\n\n")
              .has_value());
  const std::string heartbeat = heartbeat_of(Dialect::kOpenaiResponses, &observer);
  StreamObserver client(Dialect::kOpenaiResponses);
  const auto events = client.feed(heartbeat);
  REQUIRE(events.has_value());
  CHECK(events->size() == 1);
  CHECK(client.id() == "r");
}

TEST_CASE("an unknown model is told as clients know it") {
  const std::string body = body_of(Dialect::kOpenaiChat, unknown_model("gpt-x"));
  CHECK(body.find("The model `gpt-x` does not exist") != body.npos);
  CHECK(body.find(R"("code":"model_not_found")") != body.npos);
  CHECK(body_of(Dialect::kAnthropicMessages, unknown_model("x")).find("not_found_error") !=
        std::string::npos);
  CHECK(unknown_model(std::string(5000, 'm')).message.size() < 300);
}

}  // namespace hw::wire
