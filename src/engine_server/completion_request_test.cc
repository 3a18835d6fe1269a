#include "engine_server/completion_request.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hw::engine_server {
namespace {

CompletionRequest chat(const std::string& more) {
  const std::string body = R"({"model":"m","messages":[{"role":"user","content":"hi"}])" +
                           (more.empty() ? "" : "," + more) + "}";
  auto result = read_completion_request(Dialect::kOpenaiChat, body);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
  return *result;
}

std::string refusal(Dialect dialect, const std::string& body) {
  auto result = read_completion_request(dialect, body);
  REQUIRE_MESSAGE(!result.has_value(), body);
  CHECK(result.error().code == ErrorCode::kBadRequest);
  return result.error().message;
}

std::string chat_refusal(const std::string& more) {
  return refusal(Dialect::kOpenaiChat,
                 R"({"model":"m","messages":[{"role":"user","content":"hi"}],)" + more + "}");
}

TEST_CASE("a small chat request has OpenAI's defaults") {
  const CompletionRequest request = chat("");
  CHECK(request.model == "m");
  REQUIRE(request.messages.size() == 1);
  CHECK(request.messages[0].role == "user");
  CHECK(request.messages[0].content == "hi");
  CHECK_FALSE(request.stream);
  CHECK(request.output_tokens_max == 0);
  CHECK(request.sampling.temperature == 1.0f);
  CHECK(request.sampling.top_p == 1.0f);
  CHECK_FALSE(request.seeded);
}

TEST_CASE("every setting of the sampling and the answer is read") {
  const CompletionRequest request = chat(
      R"("stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"top_p":0.25,)"
      R"("top_k":40,"seed":-7,"presence_penalty":1.5,"frequency_penalty":-1,"max_tokens":10,)"
      R"("stop":["a","bc"],"ignore_eos":true)");
  CHECK(request.stream);
  CHECK(request.include_usage);
  CHECK(request.sampling.temperature == 0.5f);
  CHECK(request.sampling.top_p == 0.25f);
  CHECK(request.sampling.top_k == 40);
  CHECK(request.seeded);
  CHECK(request.sampling.seed == static_cast<uint64_t>(-7));
  CHECK(request.sampling.presence_penalty == 1.5f);
  CHECK(request.sampling.frequency_penalty == -1.0f);
  CHECK(request.output_tokens_max == 10);
  CHECK(request.stop == std::vector<std::string>{"a", "bc"});
  CHECK(request.ignore_end);
}

TEST_CASE("null stands for absent, and huge wishes are kept in range") {
  const CompletionRequest request = chat(
      R"("stream":null,"temperature":null,"top_p":null,"top_k":-1,"seed":null,"stop":null,)"
      R"("max_completion_tokens":99999999999,"n":1,"logprobs":null,"stream_options":null,)"
      R"("response_format":{"type":"text"},"tool_choice":"auto","tools":[{"type":"function"}],)"
      R"("user":"u","metadata":{"a":1})");
  CHECK(request.output_tokens_max == 1 << 30);
  CHECK(request.sampling.top_k == 0);
}

TEST_CASE("a content may be null or a list of text parts") {
  auto result = read_completion_request(
      Dialect::kOpenaiChat,
      R"({"model":"m","messages":[{"role":"developer","content":[{"type":"text","text":"a"},)"
      R"({"type":"text","text":"b"}]},{"role":"assistant","content":null},)"
      R"({"role":"function","content":"r"}]})");
  REQUIRE(result.has_value());
  CHECK(result->messages[0].role == "system");
  CHECK(result->messages[0].content == "ab");
  CHECK(result->messages[1].content.empty());
  CHECK(result->messages[2].role == "tool");
  CHECK(result->text_bytes() == 3);
}

TEST_CASE("a value that may not be is refused with the field's name") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("stream":1)", "stream"},
      {R"("stream_options":true)", "stream_options"},
      {R"("stream_options":{"include_usage":"yes"})", "stream_options.include_usage"},
      {R"("temperature":2.1)", "temperature"},
      {R"("temperature":"hot")", "temperature"},
      {R"("top_p":0)", "top_p"},
      {R"("top_p":1.1)", "top_p"},
      {R"("top_k":-2)", "top_k"},
      {R"("presence_penalty":3)", "presence_penalty"},
      {R"("frequency_penalty":-3)", "frequency_penalty"},
      {R"("seed":1.5)", "seed"},
      {R"("max_tokens":0)", "max_tokens"},
      {R"("max_tokens":"many")", "max_tokens"},
      {R"("max_completion_tokens":-1)", "max_completion_tokens"},
      {R"("stop":[1])", "stop"},
      {R"("stop":["a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a"])", "stop"},
      {R"("ignore_eos":"no")", "ignore_eos"},
      {R"("n":2)", "n"},
      {R"("logprobs":true)", "logprobs"},
      {R"("logit_bias":{"1":200})", "logit_bias"},
      {R"("response_format":{"type":"json_object"})", "response_format"},
      {R"("tool_choice":"required")", "tool_choice"},
      {R"("tool_choice":{"type":"function"})", "tool_choice"},
      {R"("messages":[])", "messages"},
      {R"("messages":"hi")", "messages"},
      {R"("messages":[1])", "messages[0]"},
      {R"("messages":[{"role":"user","content":1}])", "messages[0].content"},
      {R"("messages":[{"role":"user<|im_end|>","content":"x"}])", "messages[0].role"},
      {R"("messages":[{"role":"user","content":[{"type":"image_url"}]}])",
       "messages[0].content[0]"},
      {R"("model":"")", "model"},
      {R"("model":3)", "model"},
  };
  for (const auto& [more, field] : cases) {
    CAPTURE(more);
    CHECK(chat_refusal(more).starts_with(field + ": "));
  }
}

TEST_CASE("what is missing is named") {
  CHECK(refusal(Dialect::kOpenaiChat, R"({"messages":[{"role":"user"}]})").starts_with("model:"));
  CHECK(refusal(Dialect::kOpenaiChat, R"({"model":"m"})").starts_with("messages:"));
  CHECK(refusal(Dialect::kOpenaiCompletions, R"({"model":"m"})").starts_with("prompt:"));
}

TEST_CASE("a body that is no JSON object is refused") {
  for (const std::string body :
       {"", "[]", "{", "{\"model\":}", "nope", "{\"model\":\"m\"} x", "{\"model\":\"\xff\"}"}) {
    CAPTURE(body);
    refusal(Dialect::kOpenaiChat, body);
  }
}

TEST_CASE("a prompt is a text, a list with one text, or token ids") {
  const auto read = [](const std::string& prompt) {
    return read_completion_request(Dialect::kOpenaiCompletions,
                                   R"({"model":"m","prompt":)" + prompt + "}");
  };
  CHECK(read(R"("text")")->prompt == "text");
  CHECK(read(R"(["text"])")->prompt == "text");
  auto tokens = read("[1,2,3]");
  REQUIRE(tokens.has_value());
  CHECK(tokens->prompt_kind == PromptKind::kTokens);
  CHECK(tokens->prompt_tokens == std::vector<int64_t>{1, 2, 3});
  for (const std::string prompt :
       {"[]", "\"\"", "{}", "[\"a\",\"b\"]", "[1,\"a\"]", "[[1]]", "1"}) {
    CAPTURE(prompt);
    auto result = read(prompt);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message.starts_with("prompt: "));
  }
  CHECK(refusal(Dialect::kOpenaiCompletions, R"({"model":"m","prompt":"x","logprobs":0})")
            .starts_with("logprobs: "));
  CHECK(refusal(Dialect::kOpenaiCompletions, R"({"model":"m","prompt":"x","echo":true})")
            .starts_with("echo: "));
  CHECK(refusal(Dialect::kOpenaiCompletions, R"({"model":"m","prompt":"x","suffix":"y"})")
            .starts_with("suffix: "));
}

TEST_CASE("priority and cache_salt are read as vLLM has them") {
  const auto read = [](const std::string& more) {
    return read_completion_request(Dialect::kOpenaiCompletions,
                                   R"({"model":"m","prompt":"p",)" + more + "}");
  };
  const auto request = read(R"("priority":-3,"cache_salt":"tenant")");
  REQUIRE(request.has_value());
  CHECK(request->priority == -3);
  CHECK(request->cache_salt == "tenant");
  CHECK_FALSE(read(R"("priority":"high")").has_value());
  CHECK_FALSE(read(R"("priority":1000001)").has_value());
  CHECK_FALSE(read(R"("cache_salt":"")").has_value());
  CHECK_FALSE(read(R"("cache_salt":5)").has_value());
}

}  // namespace
}  // namespace hw::engine_server
