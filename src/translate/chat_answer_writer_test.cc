#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/text.h"
#include "neutral/opaque.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

using Json = nlohmann::ordered_json;

// An answer, event by event, written both ways.
struct Answer {
  Events events;
  Reply reply;
  Fidelity fidelity{Dialect::kAnthropicMessages, Dialect::kOpenaiChat};

  Answer() {
    reply.model = "asked";
    reply.request_id = "req_0123";
    reply.created_s = 5;
    reply.include_usage = true;
    reply.input_estimate = 3;
    events.emplace_back(Started());
  }
  BlockBegun& begin(uint32_t block, BlockKind kind) {
    BlockBegun begun;
    begun.block = block;
    begun.kind = kind;
    return std::get<BlockBegun>(events.emplace_back(begun));
  }
  void call(uint32_t block, std::string_view id, std::string_view name) {
    BlockBegun& begun = begin(block, BlockKind::kToolCall);
    begun.call_id = Text::plain(id);
    begun.name = Text::plain(name);
  }
  Delta& say(uint32_t block, std::string_view text, Delta::Kind kind = Delta::Kind::kText) {
    Delta delta;
    delta.block = block;
    delta.kind = kind;
    if (kind == Delta::Kind::kText || kind == Delta::Kind::kSignature)
      delta.text = Text::plain(text);
    delta.raw = text;
    return std::get<Delta>(events.emplace_back(delta));
  }
  void sign(uint32_t block, OpaqueKind kind, std::string content) {
    say(block, events.keep(seal({kind, "", std::move(content)})), Delta::Kind::kSignature);
  }
  void end(uint32_t block) {
    BlockEnded ended;
    ended.block = block;
    events.emplace_back(ended);
  }
  void finish(StopReason reason) {
    Finished finished;
    finished.reason = reason;
    events.emplace_back(finished);
  }
  std::string stream() {
    std::string out;
    const auto writer = make_stream_writer(Dialect::kOpenaiChat, reply, fidelity);
    for (const Event& event : events) writer->write(event, out);
    if (!writer->failed()) writer->end(out);
    return out;
  }
  Json whole() {
    std::string out;
    write_answer(Dialect::kOpenaiChat, events, reply, fidelity, out);
    const Json parsed = Json::parse(out, nullptr, false);
    REQUIRE_MESSAGE(!parsed.is_discarded(), out);
    return parsed;
  }
  Json message() { return whole()["choices"][0]["message"]; }
};

// The chunks of a stream, each checked to be one line of JSON.
std::vector<Json> chunks_of(const std::string& stream) {
  std::vector<Json> chunks;
  for (size_t at = 0; at < stream.size();) {
    const size_t end = stream.find("\n\n", at);
    REQUIRE(end != std::string::npos);
    const std::string line = stream.substr(at, end - at);
    at = end + 2;
    if (line.starts_with(":") || line == "data: [DONE]") continue;
    REQUIRE(line.starts_with("data: "));
    chunks.push_back(Json::parse(line.substr(6), nullptr, false));
    REQUIRE_MESSAGE(!chunks.back().is_discarded(), line);
  }
  return chunks;
}

void add_string(Json& message, const char* name, const Json& delta) {
  if (!delta.contains(name) || delta[name].is_null()) return;
  const std::string before =
      message.contains(name) && message[name].is_string() ? message[name].get<std::string>() : "";
  message[name] = before + delta[name].get<std::string>();
}

void add_calls(Json& message, const Json& delta) {
  for (const Json& piece : delta.value("tool_calls", Json::array())) {
    Json& call = message["tool_calls"][piece["index"].get<size_t>()];
    if (piece.contains("id")) {
      call = piece;
      call.erase("index");
      continue;
    }
    const char* kind = piece.contains("custom") ? "custom" : "function";
    const char* text = piece.contains("custom") ? "input" : "arguments";
    call[kind][text] = call[kind][text].get<std::string>() + piece[kind][text].get<std::string>();
  }
}

// The message as a client puts it together.
Json message_of(const std::string& stream) {
  Json message;
  for (const Json& chunk : chunks_of(stream)) {
    if (chunk["choices"].empty()) continue;
    const Json& delta = chunk["choices"][0]["delta"];
    if (delta.contains("role")) message["role"] = delta["role"];
    for (const char* name : {"content", "reasoning_content", "refusal"})
      add_string(message, name, delta);
    add_calls(message, delta);
    for (const char* name : {"reasoning_details", "annotations"}) {
      for (const Json& one : delta.value(name, Json::array())) message[name].push_back(one);
    }
  }
  return message;
}

Answer thinking_and_calls() {
  Answer answer;
  answer.begin(0, BlockKind::kReasoning);
  answer.say(0, "let \"me\"\n");
  answer.say(0, " see\u00e9");
  answer.sign(0, OpaqueKind::kSignature, "sig");
  answer.end(0);
  answer.begin(1, BlockKind::kReasoning);
  answer.sign(1, OpaqueKind::kRedacted, "dark");
  answer.end(1);
  answer.begin(2, BlockKind::kText);
  answer.say(2, "Hi");
  answer.say(2, " you");
  answer.end(2);
  answer.call(3, "toolu_1", "f");
  answer.say(3, R"({"a":)");
  answer.call(4, "toolu_2", "g");
  answer.say(3, "1}");
  answer.end(3);
  answer.end(4);
  answer.finish(StopReason::kToolUse);
  return answer;
}

TEST_CASE("a stream begins with the role once and ends with reason, usage and [DONE]") {
  Answer answer;
  answer.begin(0, BlockKind::kText);
  answer.say(0, "12345");
  answer.end(0);
  answer.finish(StopReason::kLength);
  const std::string stream = answer.stream();
  const std::string head =
      R"(data: {"id":"chatcmpl-0123","object":"chat.completion.chunk","created":5,)"
      R"("model":"asked",)";
  CHECK(stream ==
        concat(head,
               R"("choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},)",
               R"("logprobs":null,"finish_reason":null}]})", "\n\n", head,
               R"("choices":[{"index":0,"delta":{"content":"12345"},)",
               R"("logprobs":null,"finish_reason":null}]})", "\n\n", head,
               R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]})",
               "\n\n", head,
               R"("choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,)",
               R"("prompt_tokens_details":{"cached_tokens":0},)",
               R"("completion_tokens_details":{"reasoning_tokens":0}}})", "\n\ndata: [DONE]\n\n"));
}

TEST_CASE("usage is the upstream's where it tells one, and only told to who asked") {
  Answer answer;
  Used used;
  used.usage = {10, 4, 2, 7, 3, true};
  answer.events.emplace_back(used);
  CHECK(answer.whole()["usage"].dump() ==
        R"({"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":)"
        R"({"cached_tokens":4,"cache_write_tokens":2},"completion_tokens_details":)"
        R"({"reasoning_tokens":3}})");
  answer.reply.include_usage = false;
  CHECK(answer.stream().find("usage") == std::string::npos);
}

TEST_CASE("a streamed message is the whole one") {
  Answer answer = thinking_and_calls();
  Json streamed = message_of(answer.stream());
  const Json whole = answer.message();
  CHECK(streamed["content"] == whole["content"]);
  CHECK(streamed["reasoning_content"] == whole["reasoning_content"]);
  CHECK(streamed["reasoning_details"] == whole["reasoning_details"]);
  CHECK(streamed["tool_calls"] == whole["tool_calls"]);
  CHECK(whole["tool_calls"][0]["function"]["arguments"] == R"({"a":1})");
  CHECK(whole["tool_calls"][1]["function"]["arguments"] == "{}");
}

// The parts of thinking that a client gives back with `message`.
std::string thinking_given_back(const Json& message) {
  const std::string body = Json{{"model", "m"}, {"messages", {message}}}.dump();
  Request request;
  const Status read = read_request(Dialect::kOpenaiChat, body, request);
  REQUIRE_MESSAGE(read, read.error().message);
  std::string out;
  for (const Part& part : request.turns.at(0).parts) {
    if (part.kind != Part::Kind::kReasoning) continue;
    const auto opaque = unseal(part.signature);
    append(out, concat(part.text.str(), "|", opaque ? opaque->content : "none", ";"));
  }
  return out;
}

TEST_CASE("thinking and its proof come back, by the details or by the calls") {
  Answer answer = thinking_and_calls();
  Json message = answer.message();
  const std::string expected = "let \"me\"\n see\u00e9|sig;|dark;";
  CHECK(thinking_given_back(message) == expected);
  CHECK(thinking_given_back(message_of(answer.stream())) == expected);
  message.erase("reasoning_details");
  CHECK(thinking_given_back(message) == expected);
  message["reasoning_content"] = "else";
  CHECK(thinking_given_back(message) == "else|none;|dark;");
}

TEST_CASE("sections of a summary are paragraphs and still come back whole") {
  Answer answer;
  answer.begin(0, BlockKind::kReasoning);
  answer.say(0, "a").new_section = true;
  answer.say(0, "b").new_section = true;
  answer.sign(0, OpaqueKind::kEncrypted, "enc");
  answer.end(0);
  CHECK(answer.message()["reasoning_content"] == "a\n\nb");
  CHECK(thinking_given_back(message_of(answer.stream())) == "a\n\nb|enc;");
}

TEST_CASE("a custom tool's call is free text again, however its arguments were cut") {
  const std::string body = R"({"model":"m","messages":[],"tools":[
    {"type":"custom","custom":{"name":"p"}}]})";
  Request request;
  REQUIRE(read_request(Dialect::kOpenaiChat, body, request));
  const std::string_view arguments = R"({"input":"a\n\"b"})";
  for (size_t cut = 0; cut <= arguments.size(); ++cut) {
    Answer answer;
    answer.reply.tools = ToolNames(request);
    answer.call(0, "c", "p");
    answer.say(0, arguments.substr(0, cut));
    answer.say(0, arguments.substr(cut));
    answer.end(0);
    const Json call = answer.message()["tool_calls"][0];
    CHECK(call["type"] == "custom");
    CHECK(call["custom"]["input"] == "a\n\"b");
    CHECK(message_of(answer.stream())["tool_calls"][0] == call);
  }
}

TEST_CASE("refusals, citations and log-probabilities are said, other citations marked") {
  Answer answer;
  answer.begin(0, BlockKind::kText);
  answer.say(0, "Hi");
  answer.say(0, R"({"type":"x","url":"u","title":"t"})", Delta::Kind::kAnnotation);
  answer.say(0, R"({"type":"char_location","document_index":0})", Delta::Kind::kAnnotation);
  answer.say(0, R"([{"token":"Hi"}])", Delta::Kind::kLogprobs);
  answer.end(0);
  answer.begin(1, BlockKind::kRefusal);
  answer.say(1, "no");
  answer.end(1);
  const Json whole = answer.whole();
  CHECK(whole["choices"][0]["logprobs"].dump() == R"({"content":[{"token":"Hi"}],"refusal":null})");
  const Json& message = whole["choices"][0]["message"];
  CHECK(message["refusal"] == "no");
  CHECK(message["annotations"].dump() ==
        R"([{"type":"url_citation","url_citation":{"start_index":0,"end_index":0,)"
        R"("url":"u","title":"t"}}])");
  CHECK(message_of(answer.stream())["annotations"] == message["annotations"]);
  CHECK(answer.fidelity.lossy().size() == 1);
}

TEST_CASE("why an answer ends is told in chat's words") {
  const auto word = [](StopReason reason) {
    Answer answer;
    answer.finish(reason);
    return answer.whole()["choices"][0]["finish_reason"].get<std::string>();
  };
  CHECK(word(StopReason::kEnd) == "stop");
  CHECK(word(StopReason::kStop) == "stop");
  CHECK(word(StopReason::kPause) == "stop");
  CHECK(word(StopReason::kLength) == "length");
  CHECK(word(StopReason::kRefusal) == "content_filter");
}

TEST_CASE("an error is a data line without [DONE], and nothing follows") {
  Answer answer;
  Failed failed;
  failed.words.message = "Overloaded";
  answer.events.emplace_back(failed);
  const std::string stream = answer.stream();
  CHECK(stream.find(R"("message":"Overloaded")") != std::string::npos);
  CHECK(stream.find("[DONE]") == std::string::npos);
  CHECK(answer.whole()["error"]["message"] == "Overloaded");
}

TEST_CASE("signs of life are comments") {
  Answer answer;
  answer.events.emplace_back(Ping());
  CHECK(answer.stream().find("\n\n: keep-alive\n\n") != std::string::npos);
}

}  // namespace
}  // namespace hw::translate
