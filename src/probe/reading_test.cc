#include "probe/reading.h"

#include <doctest/doctest.h>

namespace hw::probe {
namespace {

constexpr Dialect kChat = Dialect::kOpenaiChat;

TEST_CASE("a body is known for what it is") {
  const std::pair<std::string_view, BodyKind> cases[] = {
      {"", BodyKind::kEmpty},
      {" \n", BodyKind::kEmpty},
      {"<!DOCTYPE html><html>", BodyKind::kHtml},
      {"\xef\xbb\xbf\n<html>", BodyKind::kHtml},
      {"<?xml version='1.0'?><html>", BodyKind::kHtml},
      {"<error/>", BodyKind::kText},
      {"upstream request timeout", BodyKind::kText},
      {R"({"choices": [)", BodyKind::kJsonBroken},
      {R"({"a": 1})", BodyKind::kJson},
      {R"([{"a": 1}])", BodyKind::kJsonOther},
      {R"("text")", BodyKind::kJsonOther},
      {"null", BodyKind::kJsonOther},
      {"data: {}\n\n", BodyKind::kEvents},
      {": comment\n\n", BodyKind::kEvents},
  };
  for (const auto& [body, kind] : cases) {
    CAPTURE(body);
    CHECK(read_body(kChat, body).kind == kind);
  }
}

TEST_CASE("the member that makes an answer is looked at") {
  const std::pair<std::string_view, AnswerMember> cases[] = {
      {R"({"id": 1})", AnswerMember::kMissing},
      {R"({"choices": null})", AnswerMember::kNull},
      {R"({"choices": []})", AnswerMember::kEmpty},
      {R"({"choices": {}})", AnswerMember::kOther},
      {R"({"choices": [{}]})", AnswerMember::kFilled},
  };
  for (const auto& [body, member] : cases) {
    CAPTURE(body);
    CHECK(read_body(kChat, body).member == member);
  }
  CHECK(read_body(Dialect::kAnthropicMessages, R"({"content": []})").member ==
        AnswerMember::kEmpty);
  CHECK(read_body(Dialect::kOpenaiResponses, R"({"output": [1]})").member == AnswerMember::kFilled);
}

TEST_CASE("an answer's text, usage and model are read") {
  const Reading reading = read_body(
      kChat,
      R"({"model": "m", "choices": [{"finish_reason": "stop", "message": {"content": "ab"}}],)"
      R"( "usage": {"prompt_tokens": 1, "completion_tokens": 2}})");
  CHECK(reading.answers());
  CHECK(reading.output_bytes == 2);
  CHECK(reading.finish_reason == "stop");
  CHECK(reading.usage.output == 2);
  CHECK(reading.model == "m");
}

TEST_CASE("an error in a body is read, in either shape") {
  const Reading openai =
      read_body(kChat, R"({"error": {"message": "no", "type": "t", "code": "c"}})");
  CHECK(openai.error_member);
  CHECK(openai.error.message == "no");
  CHECK(openai.error.code == "c");
  const Reading anthropic =
      read_body(Dialect::kAnthropicMessages,
                R"({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})");
  CHECK(anthropic.error_member);
  CHECK(anthropic.error.message == "busy");
  CHECK(!read_body(kChat, R"({"error": null, "choices": [{}]})").error_member);
}

TEST_CASE("a page's title is kept, bounded") {
  CHECK(read_body(kChat, "<html><TITLE lang=en> Log\n in </title>").title == "Log in");
  const std::string longer = "<html><title>" + std::string(5000, 'x') + "</title>";
  CHECK(read_body(kChat, longer).title.size() <= 203);
}

TEST_CASE("words about the model are told from words about the path") {
  const auto about = [](std::string_view message, std::string_view code = "") {
    wire::ErrorWords words;
    words.message = std::string(message);
    words.code = std::string(code);
    return is_about_model(words, "gpt4o");
  };
  CHECK(about("The model `gpt4o` does not exist"));
  CHECK(about("anything", "model_not_found"));
  CHECK(about("gpt4o is not available here"));
  CHECK(about("模型 gpt4o 不存在"));
  CHECK(!about("Not Found"));
  CHECK(!about("no route POST /chat/completions: not found"));
  CHECK(!about("the model is overloaded"));
}

TEST_CASE("model lists of several makes are read, bounded") {
  using Strings = std::vector<std::string>;
  CHECK(read_model_list(R"({"data": [{"id": "a"}, {"id": "b"}]})", 9) == Strings{"a", "b"});
  CHECK(read_model_list(R"({"models": [{"name": "a"}]})", 9) == Strings{"a"});
  CHECK(read_model_list(R"({"data": [{"id": "a"}, {"id": "b"}]})", 1) == Strings{"a"});
  CHECK(read_model_list("[]", 9).empty());
  CHECK(read_model_list("", 9).empty());
}

}  // namespace
}  // namespace hw::probe
