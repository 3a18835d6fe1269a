#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "neutral/opaque.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

using Json = nlohmann::ordered_json;

// What a request of another dialect becomes.
struct Said {
  Json body;
  std::string lossy, error;
  Said(Dialect from, std::string_view body_text, const Target& target = {"up"}) {
    const std::string text(body_text);
    Request request;
    const Status read = read_request(from, text, request);
    REQUIRE_MESSAGE(read, read.error().message);
    Fidelity fidelity(from, Dialect::kOpenaiChat);
    std::string out;
    write_request(Dialect::kOpenaiChat, request, target, fidelity, out);
    if (!fidelity.status()) error = fidelity.status().error().message;
    for (const std::string& name : fidelity.lossy()) append(lossy, concat(name, " "));
    body = Json::parse(out, nullptr, false);
    REQUIRE_MESSAGE(!body.is_discarded(), out);
  }
  std::string field(const char* name) const {
    return body.contains(name) ? body.at(name).dump() : "";
  }
};

Said from_messages(std::string_view fields) {
  return Said(Dialect::kAnthropicMessages,
              concat(R"({"model":"m","max_tokens":100,)", fields, "}"));
}

Said from_responses(std::string_view fields) {
  return Said(Dialect::kOpenaiResponses, concat(R"({"model":"m",)", fields, "}"));
}

Json messages_of(std::string_view messages) {
  const Said said = from_messages(concat(R"("messages":)", messages));
  return said.body.at("messages");
}

TEST_CASE("texts of one message are one string, media make an array") {
  CHECK(messages_of(R"([{"role":"user","content":[{"type":"text","text":"a\n"},
    {"type":"text","text":"\u00e9"}]}])")
            .dump() == R"([{"role":"user","content":"a\n\n\né"}])");
  CHECK(messages_of(R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image",
    "source":{"type":"base64","media_type":"image/jpeg","data":"AAAA"}},{"type":"image",
    "source":{"type":"url","url":"https://x/y"}}]}])")
            .dump() ==
        R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url",)"
        R"("image_url":{"url":"data:image/jpeg;base64,AAAA"}},{"type":"image_url",)"
        R"("image_url":{"url":"https://x/y"}}]}])");
}

TEST_CASE("system and developer turns stay where they stood") {
  const Said said = from_responses(R"("instructions":"i","input":[{"role":"developer",
    "content":"d"},{"role":"user","content":"u"},{"role":"system","content":"s"}])");
  CHECK(said.field("messages") ==
        R"([{"role":"system","content":"i"},{"role":"system","content":"d"},)"
        R"({"role":"user","content":"u"},{"role":"system","content":"s"}])");
  CHECK(said.lossy.empty());
}

TEST_CASE("all calls of a round stand in one message, their results follow at once") {
  const Said said = from_responses(R"("input":[
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},
    {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\": 1}"},
    {"type":"function_call","call_id":"c2","name":"g","arguments":""},
    {"role":"developer","content":"between"},
    {"type":"function_call_output","call_id":"c1","output":"r1"},
    {"type":"function_call_output","call_id":"c2","output":"r2"}])");
  CHECK(said.field("messages") ==
        R"([{"role":"assistant","content":"a","tool_calls":[{"id":"c1","type":"function",)"
        R"("function":{"name":"f","arguments":"{\"x\": 1}"}},{"id":"c2","type":"function",)"
        R"("function":{"name":"g","arguments":"{}"}}]},)"
        R"({"role":"tool","content":"r1","tool_call_id":"c1"},)"
        R"({"role":"tool","content":"r2","tool_call_id":"c2"},)"
        R"({"role":"system","content":"between"}])");
}

TEST_CASE("a result's failure is told in its text, what it shows follows in a user's message") {
  const Said said = from_messages(R"("messages":[{"role":"assistant","content":[
    {"type":"tool_use","id":"t1","name":"f","input":{"b":1,"a":"\""}}]},
    {"role":"user","content":[{"type":"text","text":"go on"},{"type":"tool_result",
    "tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"x"},{"type":"text",
    "text":"y"},{"type":"image","source":{"type":"url","url":"u"}}]}]}])");
  CHECK(said.field("messages") ==
        R"([{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function",)"
        R"("function":{"name":"f","arguments":"{\"b\":1,\"a\":\"\\\"\"}"}}]},)"
        R"({"role":"tool","content":"Error: x\n\ny","tool_call_id":"t1"},)"
        R"({"role":"user","content":[{"type":"text","text":"From the result of call t1:"},)"
        R"({"type":"image_url","image_url":{"url":"u"}}]},{"role":"user","content":"go on"}])");
  CHECK(said.lossy.empty());
}

TEST_CASE("documents become files or texts, one by URL is refused") {
  const auto document = [](std::string_view source) {
    return from_messages(concat(R"("messages":[{"role":"user","content":[{"type":"document",)",
                                R"("title":"T","source":)", source, "}]}]"));
  };
  CHECK(document(R"({"type":"base64","media_type":"application/pdf","data":"AA"})")
            .body["messages"][0]["content"][0]["file"]
            .dump() == R"({"filename":"T","file_data":"data:application/pdf;base64,AA"})");
  CHECK(document(R"({"type":"text","media_type":"text/plain","data":"long"})")
            .body["messages"][0]["content"] == "T\n\nlong");
  CHECK(document(R"({"type":"url","url":"https://x"})").error.find("source.url") !=
        std::string::npos);
}

TEST_CASE("thinking of chat's own goes back as it was, of another maker's the text") {
  const auto thinking = [](const std::string& signature, std::string_view text) {
    return messages_of(concat(R"([{"role":"assistant","content":[{"type":"thinking","thinking":")",
                              text, R"(","signature":")", signature,
                              R"("},{"type":"text","text":"a"}]}])"))[0];
  };
  CHECK(thinking(seal({OpaqueKind::kUnsigned, "", ""}), "hm").dump() ==
        R"({"role":"assistant","content":"a","reasoning_content":"hm"})");
  CHECK(thinking(seal({OpaqueKind::kDetails, "", R"([{"data":"z"}])"}), "hm").dump() ==
        R"({"role":"assistant","content":"a","reasoning_details":[{"data":"z"}]})");
  CHECK(thinking(seal({OpaqueKind::kDetails, "", R"([{"data":}])"}), "hm").dump() ==
        R"({"role":"assistant","content":"a","reasoning_content":"hm"})");
  CHECK(thinking("native", "hm").dump() ==
        R"({"role":"assistant","content":"a","reasoning_content":"hm"})");
}

TEST_CASE("hidden thinking of another maker is lost, with a mark") {
  const Said said = from_messages(R"("messages":[{"role":"assistant","content":[
    {"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"}]}])");
  CHECK(said.field("messages") == R"([{"role":"assistant","content":"a"}])");
  CHECK(said.lossy == "messages[].content[].thinking ");
}

TEST_CASE("an assistant that said nothing is left out") {
  CHECK(
      messages_of(R"([{"role":"assistant","content":""},{"role":"user","content":"u"}])").dump() ==
      R"([{"role":"user","content":"u"}])");
}

TEST_CASE("tools are declared as functions, the order of a schema's members stays") {
  const Said said = from_messages(R"("messages":[],"tools":[
    {"name":"f","description":"d","input_schema":{"type":"object","b":1,"a":2},
     "cache_control":{"type":"ephemeral"},"eager_input_streaming":true},
    {"name":"late","defer_loading":true,"input_schema":{}},
    {"type":"web_search_20250305","name":"web_search"}],
    "tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true})");
  CHECK(said.field("tools") ==
        R"([{"type":"function","function":{"name":"f","description":"d",)"
        R"("parameters":{"type":"object","b":1,"a":2}}},)"
        R"({"type":"function","function":{"name":"late","parameters":{}}}])");
  CHECK(said.field("tool_choice") == R"({"type":"function","function":{"name":"f"}})");
  CHECK(said.field("parallel_tool_calls") == "false");
  CHECK(said.lossy ==
        "cache_control tools[].eager_input_streaming tools[].defer_loading web_search_20250305 ");
}

TEST_CASE("namespaces are flattened and custom tools have one argument") {
  const Said said = from_responses(R"("tools":[
    {"type":"namespace","name":"n","description":"x","tools":[
      {"type":"function","name":"f","parameters":{"type":"object"}}]},
    {"type":"custom","name":"p","description":"d","format":{"type":"grammar","syntax":"lark",
      "definition":"start: x"}}],"input":[
    {"type":"function_call","call_id":"c1","namespace":"n","name":"f","arguments":"{}"},
    {"type":"custom_tool_call","call_id":"c2","name":"p","input":"a\"b"},
    {"type":"function_call_output","call_id":"c1","output":"1"},
    {"type":"custom_tool_call_output","call_id":"c2","output":"2"}])");
  const Json& tools = said.body["tools"];
  REQUIRE(tools.size() == 2);
  CHECK(tools[0]["function"]["name"] == "n__f");
  CHECK(tools[1]["function"]["parameters"]["required"][0] == "input");
  CHECK(tools[1]["function"]["description"].get<std::string>().find("start: x") !=
        std::string::npos);
  const Json& calls = said.body["messages"][0]["tool_calls"];
  CHECK(calls[0]["function"]["name"] == "n__f");
  CHECK(calls[1]["function"]["arguments"] == R"({"input":"a\"b"})");
}

TEST_CASE("without a tool nothing is said of choosing one") {
  const Said said = from_responses(
      R"("input":"x","tools":[{"type":"web_search"}],"tool_choice":"auto",
      "parallel_tool_calls":false)");
  CHECK(said.field("tools").empty());
  CHECK(said.field("tool_choice").empty());
  CHECK(said.field("parallel_tool_calls").empty());
  CHECK(said.lossy == "web_search ");
}

TEST_CASE("how much to think is an effort that many servers know") {
  const auto effort = [](std::string_view fields) {
    return from_messages(concat(R"("messages":[],)", fields)).field("reasoning_effort");
  };
  CHECK(effort(R"("thinking":{"type":"enabled","budget_tokens":1024})") == R"("low")");
  CHECK(effort(R"("thinking":{"type":"enabled","budget_tokens":4096})") == R"("medium")");
  CHECK(effort(R"("thinking":{"type":"enabled","budget_tokens":31999})") == R"("high")");
  CHECK(effort(R"("thinking":{"type":"disabled"})").empty());
  CHECK(effort(R"("thinking":{"type":"adaptive"})").empty());
  CHECK(effort(R"("thinking":{"type":"adaptive"},"output_config":{"effort":"max"})") ==
        R"("high")");
  CHECK(from_responses(R"("input":"x","reasoning":{"effort":"xhigh"})").field("reasoning_effort") ==
        R"("xhigh")");
  CHECK(from_responses(R"("input":"x","reasoning":{"effort":"none"})").field("reasoning_effort") ==
        R"("none")");
}

TEST_CASE("a long user is a key of the cache, a short one stays") {
  CHECK(from_messages(R"("messages":[],"metadata":{"user_id":"u"})").field("user") == R"("u")");
  const Said said = from_messages(
      concat(R"("messages":[],"metadata":{"user_id":")", std::string(65, 'x'), R"("})"));
  CHECK(said.field("user").empty());
  CHECK(said.field("prompt_cache_key").size() == 34);
  CHECK(said.lossy.empty());
}

TEST_CASE("a stream is asked for its usage unless the channel must not be") {
  CHECK(from_messages(R"("messages":[],"stream":true)").field("stream_options") ==
        R"({"include_usage":true})");
  Target target{"up"};
  target.ask_for_usage = false;
  CHECK(Said(Dialect::kOpenaiResponses, R"({"model":"m","input":"x","stream":true})", target)
            .field("stream_options")
            .empty());
}

TEST_CASE("fields beyond the dialect go where the channel takes them") {
  const std::vector<std::string> extra{"top_k", "min_p"};
  Target target{"up"};
  target.extra_fields = extra;
  const std::string_view body =
      R"({"model":"m","max_tokens":5,"messages":[],"top_k":4,"min_p":0.1,"other":{"a":1}})";
  const Said taken(Dialect::kAnthropicMessages, body, target);
  CHECK(taken.field("top_k") == "4");
  CHECK(taken.field("min_p") == "0.1");
  CHECK(taken.lossy == "other ");
  CHECK(Said(Dialect::kAnthropicMessages, body).lossy == "top_k min_p other ");
}

TEST_CASE("formats, stops and sampling keep their meaning") {
  const Said said = from_messages(R"("messages":[],"temperature":0.50,"top_p":0.9,
    "stop_sequences":["</b>","\n"],"service_tier":"standard_only","output_config":{"format":
    {"type":"json_schema","schema":{"type":"object"}}})");
  CHECK(said.field("temperature") == "0.5");
  CHECK(said.field("stop") == R"(["</b>","\n"])");
  CHECK(said.field("max_completion_tokens") == "100");
  CHECK(said.field("response_format") ==
        R"({"type":"json_schema","json_schema":{"name":"response","schema":{"type":"object"}}})");
  CHECK(said.lossy == "service_tier ");
}

TEST_CASE("state that the gateway does not keep is refused by its name") {
  CHECK(from_responses(R"("input":"x","previous_response_id":"r")")
            .error.find("previous_response_id") != std::string::npos);
  CHECK(from_messages(R"("messages":[],"thread":{"type":"create"})").error.find("thread") !=
        std::string::npos);
}

}  // namespace
}  // namespace hw::translate
