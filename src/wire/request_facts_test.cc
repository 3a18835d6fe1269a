#include "wire/request_facts.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace hw::wire {
namespace {

RequestFacts facts_of(Dialect dialect, std::string_view body) {
  RequestFacts facts;
  const Status status = scan_request(dialect, body, facts);
  REQUIRE_MESSAGE(status.has_value(), body);
  return facts;
}

std::string message_of(std::string_view body) {
  RequestFacts facts;
  const Status status = scan_request(Dialect::kOpenaiChat, body, facts);
  if (status) return "ok";
  CHECK(status.error().code == ErrorCode::kBadRequest);
  return status.error().message;
}

std::string with_model(std::string_view body, std::string_view name) {
  const RequestFacts facts = facts_of(Dialect::kOpenaiChat, body);
  RequestEdits edits(facts);
  edits.set_model(name);
  return edits.splice().apply(body);
}

std::string with_usage(std::string_view body) {
  const RequestFacts facts = facts_of(Dialect::kOpenaiChat, body);
  RequestEdits edits(facts);
  const bool asked = edits.ask_for_usage(Dialect::kOpenaiChat);
  CHECK(asked == !edits.splice().empty());
  return edits.splice().apply(body);
}

}  // namespace

TEST_CASE("a body that cannot be served is refused with the field and what was expected") {
  CHECK(message_of("").find("the request body is empty") == 0);
  CHECK(message_of(" \n").find("the request body is empty") == 0);
  CHECK(message_of("model=x&stream=1").find("the request body is not a JSON object") == 0);
  CHECK(message_of("[1]").find("the request body is not a JSON object") == 0);
  CHECK(message_of(R"({"model":"m")").find("the request body is not a JSON object") == 0);
  CHECK(message_of(R"({"model":"m"} {})").find("the request body is not a JSON object") == 0);
  CHECK(message_of(R"({"model":"m","a":[1,2})").find("the request body is not") == 0);
  CHECK(message_of("{}") == "field 'model' is missing: name the model to use");
  CHECK(message_of(R"({"model":null})").find("field 'model' must be a string") == 0);
  CHECK(message_of(R"({"model":7})").find("field 'model' must be a string") == 0);
  CHECK(message_of(R"({"model":""})").find("field 'model' is empty") == 0);
  CHECK(message_of(concat(R"({"model":")", std::string(513, 'm'), "\"}")).find("513 bytes") !=
        std::string::npos);
  CHECK(message_of(R"({"model":"m","stream":"true"})").find("field 'stream' must be true or") == 0);
  CHECK(message_of(R"({"model":"m","stream":1})").find("field 'stream' must be true or") == 0);
  CHECK(message_of(R"({"model":"a","model":"b","model":"c","model":"d"})").find("three times") !=
        std::string::npos);
}

TEST_CASE("fields that only the upstream judges are taken as they come") {
  CHECK(message_of(R"({"model":"m","stream":null,"max_tokens":"many","messages":{},"n":[],)"
                   R"("stream_options":7,"tools":"x","user":5,"metadata":null,"system":true})") ==
        "ok");
}

TEST_CASE("the last of two models wins, also under an escaped key") {
  CHECK(facts_of(Dialect::kOpenaiChat, R"({"model":"a","mod\u0065l":"b"})").model == "b");
  CHECK(facts_of(Dialect::kOpenaiChat, R"({"model":"a\"\u00e9"})").model == "a\"\xc3\xa9");
}

TEST_CASE("set_model changes the name and no other byte") {
  CHECK(with_model(R"({ "a":1, "model" : "x" ,"b":[1, 2]})", "longer \"name\"") ==
        R"({ "a":1, "model" : "longer \"name\"" ,"b":[1, 2]})");
  CHECK(with_model(R"({"model":"x"})", "x") == R"({"model":"x"})");
  CHECK(with_model(R"({"model":"\u0078"})", "x") == R"({"model":"\u0078"})");
}

TEST_CASE("a repeated model is rewritten everywhere, so that no parser sees another one") {
  CHECK(with_model(R"({"model":"secret","model":"x"})", "x") == R"({"model":"x","model":"x"})");
  CHECK(with_model(R"({"model":"a","model":"b","model":"c"})", "x") ==
        R"({"model":"x","model":"x","model":"x"})");
}

TEST_CASE("usage is asked for in each way that stream_options can stand there") {
  CHECK(with_usage(R"( {"model":"m","stream":true})") ==
        R"( {"stream_options":{"include_usage":true},"model":"m","stream":true})");
  CHECK(with_usage(R"({"model":"m","stream":true,"stream_options":null})") ==
        R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})");
  CHECK(with_usage(R"({"model":"m","stream":true,"stream_options":{}})") ==
        R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})");
  CHECK(with_usage(R"({"model":"m","stream":true,"stream_options":{ "x":1}})") ==
        R"({"model":"m","stream":true,"stream_options":{"include_usage":true, "x":1}})");
  CHECK(with_usage(R"({"stream_options":{"include_usage":null},"model":"m","stream":true})") ==
        R"({"stream_options":{"include_usage":true},"model":"m","stream":true})");
}

TEST_CASE("usage is not asked for where the caller said so, said no, or does not stream") {
  for (const std::string_view body :
       {R"({"model":"m","stream":true,"stream_options":{"include_usage":true}})",
        R"({"model":"m","stream":true,"stream_options":{"include_usage":false}})",
        R"({"model":"m","stream":true,"stream_options":{"include_usage":"no"}})",
        R"({"model":"m","stream":true,"stream_options":[]})", R"({"model":"m","stream":false})",
        R"({"model":"m"})"}) {
    CHECK(with_usage(body) == body);
  }
  const RequestFacts facts =
      facts_of(Dialect::kAnthropicMessages, R"({"model":"m","stream":true})");
  RequestEdits edits(facts);
  CHECK_FALSE(edits.ask_for_usage(Dialect::kAnthropicMessages));
  CHECK_FALSE(edits.ask_for_usage(Dialect::kOpenaiResponses));
  CHECK(edits.splice().empty());
}

TEST_CASE("four edits at once keep their places") {
  const std::string_view body = R"({"model":"a","model":"b","stream":true,"model":"c"})";
  const RequestFacts facts = facts_of(Dialect::kOpenaiChat, body);
  RequestEdits edits(facts);
  edits.set_model("x");
  CHECK(edits.ask_for_usage(Dialect::kOpenaiChat));
  CHECK(edits.splice().apply(body) ==
        R"({"stream_options":{"include_usage":true},"model":"x","model":"x","stream":true,)"
        R"("model":"x"})");
}

TEST_CASE("the session is the strongest name that the body gives") {
  const auto session = [](std::string_view fields) {
    return facts_of(Dialect::kOpenaiChat, concat(R"({"model":"m",)", fields, "}")).session;
  };
  CHECK(session(R"("user":"u","prompt_cache_key":"k","safety_identifier":"s")") == "k");
  CHECK(session(R"("prompt_cache_key":"k","user":"u")") == "k");
  CHECK(session(R"("metadata":{"user_id":"{\"session_id\":\"1\"}"},"user":"u")") ==
        R"({"session_id":"1"})");
  CHECK(session(R"("conversation":{"id":"c"},"user":"u")") == "c");
  CHECK(session(R"("conversation":"c2")") == "c2");
  CHECK(session(R"("user":"","safety_identifier":"s")") == "s");
  CHECK(session(concat(R"("user":")", std::string(1025, 'u'), "\"")).empty());
  CHECK(session(R"("user":7)").empty());
}

TEST_CASE("max_completion_tokens is meant where max_tokens stands beside it") {
  for (const std::string_view body :
       {R"({"model":"m","max_tokens":5,"max_completion_tokens":9})",
        R"({"model":"m","max_completion_tokens":9,"max_tokens":5})"}) {
    CHECK(facts_of(Dialect::kOpenaiChat, body).max_tokens == 9);
  }
}

TEST_CASE("a prompt nested without end is not followed without end") {
  std::string body = R"({"model":"m","messages":)";
  for (int i = 0; i < 2000; ++i) body += "[";
  for (int i = 0; i < 2000; ++i) body += "]";
  body += "}";
  CHECK(facts_of(Dialect::kOpenaiChat, body).messages == 1);
}

}  // namespace hw::wire
