#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "base/text.h"
#include "neutral/opaque.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

constexpr std::string_view kBlockNames[] = {"text", "reasoning", "tool", "refusal", "foreign"};
constexpr std::string_view kReasons[] = {"end", "length", "stop", "tool_use", "refusal", "pause"};

// One event in a few characters.
struct Shown {
  std::string operator()(const Started& e) const {
    return concat("start ", e.id.str(), " ", e.model.str());
  }
  std::string operator()(const BlockBegun& e) const {
    const bool custom = e.tool_kind == ToolKind::kCustom;
    std::string out = concat("+", e.block, " ", kBlockNames[static_cast<size_t>(e.kind)]);
    if (e.kind == BlockKind::kToolCall)
      append(out, concat(custom ? " custom " : " ", e.name.str(), " ", e.call_id.str()));
    return out;
  }
  std::string operator()(const Delta& e) const {
    if (e.kind == Delta::Kind::kText) return concat(e.block, ":", e.text.str());
    if (e.kind == Delta::Kind::kAnnotation) return concat(e.block, " cites ", e.raw);
    if (e.kind == Delta::Kind::kLogprobs) return concat(e.block, " probs ", e.raw);
    const auto opaque = unseal(e.text);
    REQUIRE(opaque);
    return concat(e.block, opaque->kind == OpaqueKind::kDetails ? " details " : " unsigned",
                  opaque->content);
  }
  std::string operator()(const BlockEnded& e) const { return concat("-", e.block); }
  std::string operator()(const Finished& e) const {
    return concat("end ", kReasons[static_cast<size_t>(e.reason)],
                  e.stop_sequence.present() ? " at " : "", e.stop_sequence.str());
  }
  std::string operator()(const Used& e) const {
    return concat("used ", e.usage.input, "/", e.usage.cached_input, " ", e.usage.output);
  }
  std::string operator()(const Ping&) const { return "ping"; }
  std::string operator()(const Failed& e) const { return concat("failed ", e.words.message); }
};

std::string show(const Events& events) {
  std::string out;
  for (const Event& event : events) append(out, concat(std::visit(Shown(), event), "\n"));
  return out;
}

// A stream's reader and all that it said.
struct Stream {
  std::unique_ptr<StreamReader> reader = make_stream_reader(Dialect::kOpenaiChat);
  std::string said;

  void event(std::string_view data, std::string_view type = {}) {
    Events events;
    http::SseEvent event;
    event.data = data;
    event.type = type;
    reader->read(event, events);
    append(said, show(events));
  }
  void delta(std::string_view members) { choice(concat(R"("delta":{)", members, "}")); }
  void choice(std::string_view members) {
    event(concat(R"({"id":"chatcmpl-1","model":"m","choices":[{"index":0,)", members, "}]}"));
  }
  std::string end() {
    Events events;
    reader->end(events);
    append(said, show(events));
    return said;
  }
};

TEST_CASE("a chat stream begins once, ends once, and its usage may follow the end") {
  Stream stream;
  stream.event(R"({"id":"","model":"","choices":[],"prompt_filter_results":[]})");
  stream.delta(R"("role":"assistant","content":"")");
  stream.delta(R"("content":"Hi")");
  stream.delta(R"("content":" you")");
  stream.choice(R"("delta":{},"finish_reason":"stop")");
  stream.event(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,
    "prompt_tokens_details":{"cached_tokens":4}}})");
  stream.event("[DONE]");
  CHECK(stream.end() == "start chatcmpl-1 m\n+0 text\n0:Hi\n0: you\n-0\nend end\nused 9/4 2\n");
}

TEST_CASE("thinking under several names is said once and ends unsigned before the text") {
  Stream stream;
  stream.delta(R"("reasoning":"Hm","reasoning_content":"Hm")");
  stream.delta(R"("reasoning":"m")");
  stream.delta(R"("content":"Hi","reasoning_content":null)");
  stream.choice(R"("delta":{},"finish_reason":"length")");
  CHECK(stream.end() ==
        "start chatcmpl-1 m\n+0 reasoning\n0:Hm\n0:m\n0 unsigned\n-0\n+1 text\n1:Hi\n-1\n"
        "end length\n");
}

TEST_CASE("reasoning_details come back whole, late ones as a piece of their own") {
  Stream stream;
  stream.delta(R"("reasoning":"Let","reasoning_details":[{"type":"reasoning.text","text":"Let",
    "index":0,"signature":null}])");
  stream.delta(R"("reasoning":" me","reasoning_details":[{"type":"reasoning.text","text":" me\n",
    "index":0,"signature":"s"}])");
  stream.delta(R"("content":"Hi")");
  stream.delta(R"("reasoning_details":[{"type":"reasoning.encrypted","data":"zz","index":1}])");
  CHECK(stream.end() ==
        "start chatcmpl-1 m\n+0 reasoning\n0:Let\n0: me\n"
        R"(0 details [{"type":"reasoning.text","text":"Let me\n","signature":"s","index":0}])"
        "\n-0\n+1 text\n1:Hi\n-1\n+2 reasoning\n"
        R"(2 details [{"type":"reasoning.encrypted","data":"zz","index":1}])"
        "\n-2\nend end\n");
}

TEST_CASE("a call ends when the next begins with its arguments complete, mixed ones overlap") {
  Stream stream;
  const auto call = [&](std::string_view piece) {
    stream.delta(concat(R"("tool_calls":[{)", piece, "}]"));
  };
  call(R"("index":0,"id":"a","type":"function","function":{"name":"f","arguments":""})");
  call(R"("index":0,"function":{"arguments":"{\"x\":"})");
  call(R"("index":0,"function":{"arguments":"1}"})");
  call(R"("index":1,"id":"b","function":{"name":"g","arguments":"{"})");
  call(R"("index":2,"id":"c","function":{"name":"h","arguments":"{}"})");
  call(R"("index":1,"function":{"arguments":"}"})");
  stream.choice(R"("delta":{},"finish_reason":"tool_calls")");
  CHECK(stream.end() ==
        "start chatcmpl-1 m\n+0 tool f a\n0:{\"x\":\n0:1}\n-0\n+1 tool g b\n1:{\n"
        "+2 tool h c\n2:{}\n1:}\n-1\n-2\nend tool_use\n");
}

TEST_CASE("calls are told apart where servers number them badly, name them late or not at all") {
  Stream stream;
  const auto call = [&](std::string_view piece) {
    stream.delta(concat(R"("tool_calls":[{)", piece, "}]"));
  };
  call(R"("index":0,"id":"a","function":{"name":"f","arguments":"{}"})");
  call(R"("index":0,"id":"b","function":{"name":"f","arguments":"{}"})");
  call(R"("id":"c","function":{"name":"g"})");
  call(R"("function":{"arguments":{"x":1}})");
  call(R"("index":7,"function":{"arguments":"[1"})");
  call(R"("index":7,"function":{"name":"h","arguments":"]"})");
  call(R"("index":8,"id":"e","type":"custom","custom":{"name":"p","input":"text"})");
  stream.choice(R"("delta":{},"finish_reason":"stop")");
  CHECK(stream.end() ==
        "start chatcmpl-1 m\n+0 tool f a\n0:{}\n-0\n+1 tool f b\n1:{}\n-1\n+2 tool g c\n"
        "2:{\"x\":1}\nping\n-2\n+3 tool h call_chatcmpl-1_3\n3:[1\n3:]\n-3\n+4 tool custom p e\n"
        "4:text\n-4\nend tool_use\n");
}

TEST_CASE("the function_call of 2023 is a call") {
  Stream stream;
  stream.delta(R"("function_call":{"name":"f","arguments":""})");
  stream.delta(R"("function_call":{"arguments":"{}"})");
  stream.choice(R"("delta":{},"finish_reason":"function_call")");
  CHECK(stream.end() ==
        "start chatcmpl-1 m\n+0 tool f call_chatcmpl-1_0\n0:{}\n-0\nend tool_use\n");
}

TEST_CASE("refusals, parts, citations and log-probabilities are read") {
  Stream stream;
  stream.delta(R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}])");
  stream.choice(R"("delta":{"content":[{"type":"text","text":"Hi"}],
    "annotations":[{"type":"url_citation"}]},"logprobs":{"content":[{"token":"Hi"}]})");
  stream.delta(R"("refusal":"no")");
  CHECK(stream.end() ==
        "start chatcmpl-1 m\n+0 reasoning\n0:hm\n0 unsigned\n-0\n+1 text\n1:Hi\n"
        "1 cites {\"type\":\"url_citation\"}\n1 probs [{\"token\":\"Hi\"}]\n-1\n+2 refusal\n"
        "2:no\n-2\nend end\n");
}

TEST_CASE("chunks that are alike but for their text say what they would say one by one") {
  const auto said = [](std::string_view other) {
    Stream stream;
    for (const std::string_view text : {"a", "b", "\u00e9", "\\n", "c"})
      stream.delta(concat(R"("content":")", text, R"(")", other));
    stream.delta(R"("tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}])");
    stream.delta(concat(R"("content":"d")", other));
    stream.event(R"({"error":"gone"})");
    stream.delta(concat(R"("content":"e")", other));
    return stream.end();
  };
  const std::string expected =
      "start chatcmpl-1 m\n+0 text\n0:a\n0:b\n0:\u00e9\n0:\n\n0:c\n-0\n+1 tool f x\n1:{}\n-1\n"
      "+2 text\n2:d\nfailed gone\n";
  CHECK(said("") == expected);
  CHECK(said(R"(,"tool_calls":[])") == expected);
}

TEST_CASE("only the first choice counts, and what says nothing is a sign of life") {
  Stream stream;
  stream.event(R"({"choices":[{"index":1,"delta":{"content":"b"}}]})");
  stream.event(R"({"choices":[{"index":0,"delta":{"content":""}}]})");
  stream.event(R"({"choices":null})");
  stream.event("{not json");
  CHECK(stream.end() == "start  \nping\nend end\n");
}

TEST_CASE("why an answer ends is told in our words") {
  const auto reason = [](std::string_view members) {
    Stream stream;
    stream.choice(concat(R"("delta":{},)", members));
    return stream.said.substr(stream.said.find("end"));
  };
  CHECK(reason(R"("finish_reason":"stop")") == "end end\n");
  CHECK(reason(R"("finish_reason":"length")") == "end length\n");
  CHECK(reason(R"("finish_reason":"content_filter")") == "end refusal\n");
  CHECK(reason(R"("finish_reason":"eos")") == "end end\n");
  CHECK(reason(R"("finish_reason":"stop","stop_reason":"</b>")") == "end stop at </b>\n");
  CHECK(reason(R"("finish_reason":"stop","stop_reason":128009)") == "end end\n");
  CHECK(reason(R"("finish_reason":"stop","matched_stop":"x")") == "end stop at x\n");
}

TEST_CASE("every shape of an upstream's error is a failure, and nothing follows") {
  const auto failure = [](std::string_view data, std::string_view type = {}) {
    Stream stream;
    stream.delta(R"("content":"a")");
    stream.said.clear();
    stream.event(data, type);
    stream.delta(R"("content":"b")");
    return stream.end();
  };
  CHECK(failure(R"({"error":{"message":"Overloaded","type":"server_error"}})") ==
        "failed Overloaded\n");
  CHECK(failure(R"({"object":"error","message":"died","code":500})") == "failed died\n");
  CHECK(failure(R"({"message":"named"})", "error") == "failed named\n");
  CHECK(failure(R"({"error":{"message":"inner"}})", "error") == "failed inner\n");
  CHECK(failure("text", "error") == "failed text\n");
  CHECK(failure(R"({"choices":[{"delta":{},"finish_reason":"error"}],
    "error":{"message":"gone"}})") == "failed gone\n");
  CHECK(failure(R"({"choices":[{"delta":{},"finish_reason":"error"}]})") ==
        "failed the answer ended with finish_reason \"error\"\n");
}

std::string whole(std::string_view body) {
  Events events;
  const Status read = read_answer(Dialect::kOpenaiChat, body, events);
  return read ? show(events) : read.error().message;
}

TEST_CASE("a whole answer is the events that its stream would have brought") {
  CHECK(whole(R"({"id":"i","model":"m","choices":[{"index":0,"message":{"role":"assistant",
    "reasoning_content":"hm","content":"Hi","refusal":null,"annotations":[],"tool_calls":[
    {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
    {"id":"b","type":"function","function":{"name":"g","arguments":"{\"a\":1}"}}]},
    "logprobs":null,"finish_reason":"tool_calls"}],
    "usage":{"prompt_tokens":3,"completion_tokens":4}})") ==
        "start i m\n+0 reasoning\n0:hm\n0 unsigned\n-0\n+1 text\n1:Hi\n-1\n+2 tool f a\n2:{}\n"
        "-2\n+3 tool g b\n3:{\"a\":1}\n-3\nend tool_use\nused 3/0 4\n");
}

TEST_CASE("a body without an answer says what is missing") {
  CHECK(whole(R"({"choices":[]})") == "the answer has no choices with a message");
  CHECK(whole(R"({"choices":null})") == "the answer has no choices with a message");
  CHECK(whole(R"({"error":{"message":"no"}})") == "the answer is an error: no");
}

}  // namespace
}  // namespace hw::translate
