// What an upstream said comes back to it with the client's next request as it was: words, calls
// with their ids and arguments, thinking and what proves it. Conversations are random, from a seed.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

using Json = nlohmann::ordered_json;

constexpr Dialect kChat = Dialect::kOpenaiChat;
constexpr Dialect kResponses = Dialect::kOpenaiResponses;
constexpr Dialect kMessages = Dialect::kAnthropicMessages;

class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}

  size_t below(size_t limit) { return random_() % limit; }
  bool once_in(size_t times) { return below(times) == 0; }
  // Never of white space alone.
  std::string text() {
    constexpr std::string_view kPieces[] = {"a",  "\"", "\\",   "\n", " ", "é", "🦀",  "한",
                                            "\t", "/",  "</x>", "{",  "}", "0", "\x01"};
    std::string out = "w";
    for (size_t i = below(12); i > 0; --i) out += kPieces[below(std::size(kPieces))];
    return out;
  }
  std::string word(std::string_view alphabet, size_t size_max) {
    std::string out;
    for (size_t i = 1 + below(size_max); i > 0; --i) out += alphabet[below(alphabet.size())];
    return out;
  }
  Json arguments() {
    Json out = Json::object();
    for (size_t i = below(4); i > 0; --i) {
      const std::string key = word("zyxabc", 3);
      if (once_in(3)) {
        out[key] = {{"n", below(1000)}, {"l", {text(), nullptr, true}}};
      } else {
        out[key] = text();
      }
    }
    return out;
  }

 private:
  std::mt19937 random_;
};

constexpr std::string_view kBase64 = "ABCDEFGHabcdefgh0123+/=";

// An answer of messages: thinking, words, calls, in this order, and at least one of the latter two.
Json random_message(Random& random) {
  Json content = Json::array();
  for (size_t i = random.below(3); i > 0; --i) {
    if (random.once_in(4)) {
      content.push_back({{"type", "redacted_thinking"}, {"data", random.word(kBase64, 60)}});
    } else {
      content.push_back({{"type", "thinking"},
                         {"thinking", random.once_in(5) ? "" : random.text()},
                         {"signature", random.word(kBase64, 60)}});
    }
  }
  const size_t calls = random.below(4);
  if (calls == 0 || random.once_in(2))
    content.push_back({{"type", "text"}, {"text", random.text()}});
  for (size_t i = 0; i < calls; ++i) {
    content.push_back({{"type", "tool_use"},
                       {"id", "toolu_" + std::to_string(i) + random.word("abc_-019", 30)},
                       {"name", random.word("abcdef_", 64)},
                       {"input", random.arguments()}});
  }
  return {{"id", "msg_1"},
          {"type", "message"},
          {"role", "assistant"},
          {"model", "m"},
          {"content", content},
          {"stop_reason", calls == 0 ? "end_turn" : "tool_use"},
          {"usage", {{"input_tokens", 1}, {"output_tokens", 1}}}};
}

Json answer_in(Dialect from, const Json& answer, Dialect to) {
  Events events;
  const std::string body = answer.dump();
  REQUIRE(read_answer(from, body, events));
  Reply reply;
  reply.model = "m";
  reply.request_id = "req_1";
  reply.encrypted_reasoning = true;
  Fidelity fidelity(from, to);
  std::string out;
  write_answer(to, events, reply, fidelity, out);
  CHECK(fidelity.lossy().empty());
  return Json::parse(out);
}

Json request_in(Dialect from, const Json& request, Dialect to) {
  const std::string body = request.dump();
  Request read;
  const Status status = read_request(from, body, read);
  REQUIRE_MESSAGE(status, (status ? "" : status.error().message));
  Fidelity fidelity(from, to);
  Target target;
  target.model = "m";
  std::string out;
  write_request(to, read, target, fidelity, out);
  REQUIRE(fidelity.status());
  CHECK(fidelity.lossy().empty());
  return Json::parse(out);
}

// What clients send next: the answer as they keep it, and a result for each call.
Json next_request(Dialect client, const Json& answer) {
  Json request = {{"model", "m"}};
  if (client == kChat) {
    Json turn = answer["choices"][0]["message"];
    turn.erase("refusal");
    Json messages = {{{"role", "user"}, {"content", "go"}}, turn};
    for (const Json& call : turn.value("tool_calls", Json::array()))
      messages.push_back({{"role", "tool"}, {"tool_call_id", call["id"]}, {"content", "done"}});
    request["messages"] = messages;
    return request;
  }
  if (client == kMessages) {
    Json results = Json::array();
    for (const Json& block : answer["content"]) {
      if (block["type"] == "tool_use")
        results.push_back(
            {{"type", "tool_result"}, {"tool_use_id", block["id"]}, {"content", "done"}});
    }
    if (results.empty()) results.push_back({{"type", "text"}, {"text", "next"}});
    request["max_tokens"] = 9;
    request["messages"] = {{{"role", "user"}, {"content", "go"}},
                           {{"role", "assistant"}, {"content", answer["content"]}},
                           {{"role", "user"}, {"content", results}}};
    return request;
  }
  Json input = {{{"role", "user"}, {"content", "go"}}};
  for (const Json& item : answer["output"]) input.push_back(item);
  for (const Json& item : answer["output"]) {
    if (item["type"] == "function_call")
      input.push_back(
          {{"type", "function_call_output"}, {"call_id", item["call_id"]}, {"output", "done"}});
  }
  request["input"] = input;
  request["store"] = false;
  return request;
}

TEST_CASE("an answer of messages comes back as it was through clients of chat and responses") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Json message = random_message(random);
    for (const Dialect client : {kChat, kResponses}) {
      CAPTURE(message.dump());
      const Json told = answer_in(kMessages, message, client);
      CAPTURE(told.dump());
      const Json back = request_in(client, next_request(client, told), kMessages);
      CHECK(back["messages"][1]["content"].dump() == message["content"].dump());
    }
  }
}

// Of the items of responses, what comes back: their texts, calls and proofs.
Json essence(const Json& items) {
  Json out = Json::array();
  for (const Json& item : items) {
    const std::string type = item.value("type", "message");
    if (item.value("role", "") == "user") continue;
    if (type == "message") {
      for (const Json& part : item["content"]) out.push_back({"text", part["text"]});
    } else if (type == "function_call") {
      out.push_back({"call", item["call_id"], item["name"], item["arguments"]});
    } else if (type == "reasoning") {
      out.push_back({"reasoning", item["id"], item["summary"], item["encrypted_content"]});
    }
  }
  return out;
}

Json random_response(Random& random) {
  Json output = Json::array();
  for (size_t i = random.below(3); i > 0; --i) {
    Json summary = Json::array();
    if (!random.once_in(3)) summary.push_back({{"type", "summary_text"}, {"text", random.text()}});
    output.push_back({{"id", "rs_" + random.word("0123abc", 20)},
                      {"type", "reasoning"},
                      {"summary", summary},
                      {"encrypted_content", random.word(kBase64, 80)}});
  }
  const size_t calls = random.below(3);
  if (calls == 0 || random.once_in(2)) {
    output.push_back(
        {{"id", "msg_1"},
         {"type", "message"},
         {"role", "assistant"},
         {"status", "completed"},
         {"content",
          {{{"type", "output_text"}, {"text", random.text()}, {"annotations", Json::array()}}}}});
  }
  for (size_t i = 0; i < calls; ++i) {
    output.push_back({{"id", "fc_" + std::to_string(i)},
                      {"type", "function_call"},
                      {"status", "completed"},
                      {"call_id", "call_" + std::to_string(i) + random.word("ab.:9_-", 35)},
                      {"name", random.word("abcdef_", 64)},
                      {"arguments", random.arguments().dump()}});
  }
  return {{"id", "resp_1"},
          {"object", "response"},
          {"status", "completed"},
          {"model", "m"},
          {"output", output},
          {"usage", {{"input_tokens", 1}, {"output_tokens", 1}, {"total_tokens", 2}}}};
}

TEST_CASE("an answer of responses comes back as it was through clients of messages") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Json response = random_response(random);
    CAPTURE(response.dump());
    const Json told = answer_in(kResponses, response, kMessages);
    CAPTURE(told.dump());
    const Json back = request_in(kMessages, next_request(kMessages, told), kResponses);
    CHECK(essence(back["input"]).dump() == essence(response["output"]).dump());
  }
}

Json random_completion(Random& random) {
  Json message = {{"role", "assistant"}, {"content", nullptr}};
  if (random.once_in(2)) message["reasoning_content"] = random.text();
  const size_t calls = random.below(3);
  if (calls == 0 || random.once_in(2)) message["content"] = random.text();
  for (size_t i = 0; i < calls; ++i) {
    message["tool_calls"].push_back(
        {{"id", "call_" + std::to_string(i) + random.word("ab.:9_-", 20)},
         {"type", "function"},
         {"function",
          {{"name", random.word("abcdef_", 64)}, {"arguments", random.arguments().dump()}}}});
  }
  return {{"id", "chatcmpl-1"},
          {"object", "chat.completion"},
          {"model", "m"},
          {"choices",
           {{{"index", 0},
             {"message", message},
             {"finish_reason", calls == 0 ? "stop" : "tool_calls"}}}},
          {"usage", {{"prompt_tokens", 1}, {"completion_tokens", 1}, {"total_tokens", 2}}}};
}

TEST_CASE("an answer of chat comes back as it was through clients of messages") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Json completion = random_completion(random);
    CAPTURE(completion.dump());
    const Json told = answer_in(kChat, completion, kMessages);
    CAPTURE(told.dump());
    const Json back = request_in(kMessages, next_request(kMessages, told), kChat);
    CHECK(nlohmann::json(back["messages"][1]) ==
          nlohmann::json(completion["choices"][0]["message"]));
  }
}

}  // namespace
}  // namespace hw::translate
