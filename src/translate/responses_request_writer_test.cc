// What a request of another dialect says is said again to an upstream that speaks responses.
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

struct Written {
  Written(Dialect from, const std::string& body, std::vector<std::string> extra = {})
      : fidelity(from, Dialect::kOpenaiResponses) {
    Request request;
    const Status read = read_request(from, body, request);
    REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
    Target target;
    target.model = "upstream";
    target.extra_fields = extra;
    std::string out;
    write_request(Dialect::kOpenaiResponses, request, target, fidelity, out);
    json = Json::parse(out, nullptr, false);
    REQUIRE_MESSAGE(!json.is_discarded(), out);
  }
  std::string lossy() const {
    std::string out;
    for (const std::string& name : fidelity.lossy()) out += concat(out.empty() ? "" : " ", name);
    return out;
  }
  Fidelity fidelity;
  Json json;
};

Written from_messages(std::string_view members) {
  return {Dialect::kAnthropicMessages, concat(R"({"model":"m","max_tokens":99,)", members, "}")};
}
Written from_chat(std::string_view members) {
  return {Dialect::kOpenaiChat, concat(R"({"model":"m",)", members, "}")};
}

TEST_CASE("turns stay where they stood, each with its role and its kind of content") {
  const Written written = from_messages(R"("system":"be brief","messages":[
      {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":""}]},
      {"role":"system","content":"later"},
      {"role":"assistant","content":"b"},{"role":"user","content":""}])");
  CHECK(written.json["input"] == Json::parse(R"([
      {"type":"message","role":"system","content":[{"type":"input_text","text":"be brief"}]},
      {"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},
      {"type":"message","role":"system","content":[{"type":"input_text","text":"later"}]},
      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}])"));
  CHECK(written.json["model"] == "upstream");
  CHECK(written.json["max_output_tokens"] == 99);
  CHECK(written.json["store"] == false);
  CHECK(written.lossy().empty());
}

TEST_CASE("parallel calls and their results are items of their own, in order") {
  const Written written = from_messages(R"("messages":[{"role":"user","content":"go"},
      {"role":"assistant","content":[{"type":"text","text":"ok"},
        {"type":"tool_use","id":"toolu_1","name":"f","input":{"a": 1}},
        {"type":"tool_use","id":"toolu_2","name":"g","input":{}}]},
      {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"toolu_1","content":"one","is_error":false},
        {"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":[
          {"type":"text","text":"two"},{"type":"text","text":"three"}]},
        {"type":"text","text":"and?"}]}])");
  const Json& input = written.json["input"];
  REQUIRE(input.size() == 7);
  CHECK(input[2] ==
        Json::parse(
            R"({"type":"function_call","call_id":"toolu_1","name":"f","arguments":"{\"a\": 1}"})"));
  CHECK(input[3]["arguments"] == "{}");
  CHECK(input[4] ==
        Json::parse(R"({"type":"function_call_output","call_id":"toolu_1","output":"one"})"));
  CHECK(input[5]["output"] == "Error: two\n\nthree");
  CHECK(input[6]["content"][0]["text"] == "and?");
  CHECK(written.lossy().empty());
}

TEST_CASE("media are said as responses knows them, also in results of tools") {
  const Written written = from_messages(R"("messages":[{"role":"user","content":[
      {"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0"}},
      {"type":"image","source":{"type":"url","url":"https://x/y.png"}},
      {"type":"document","title":"a","source":{"type":"base64","media_type":"application/pdf",
        "data":"JV"}},
      {"type":"document","title":"note","source":{"type":"text","media_type":"text/plain",
        "data":"hi"}},
      {"type":"tool_result","tool_use_id":"t","is_error":true,"content":[
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iV"}}]}]}])");
  const Json& input = written.json["input"];
  CHECK(input[0]["content"] == Json::parse(R"([
      {"type":"input_image","image_url":"data:image/gif;base64,R0","detail":"auto"},
      {"type":"input_image","image_url":"https://x/y.png","detail":"auto"},
      {"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JV"},
      {"type":"input_text","text":"note\n\nhi"}])"));
  CHECK(input[1]["output"] == Json::parse(R"([{"type":"input_text","text":"Error: "},
      {"type":"input_image","image_url":"data:image/png;base64,iV","detail":"auto"}])"));
  const Written sound = from_chat(R"("messages":[{"role":"user","content":[
      {"type":"input_audio","input_audio":{"data":"UklG","format":"mp3"}}]}])");
  CHECK(sound.json["input"][0]["content"][0] ==
        Json::parse(R"({"type":"input_audio","input_audio":{"data":"UklG","format":"mp3"}})"));
}

TEST_CASE("thinking goes back to its maker with its id and proof, and to nobody else") {
  Opaque own;
  own.kind = OpaqueKind::kEncrypted;
  own.item_id = "rs_1";
  own.content = "gAAA+/=";
  Opaque foreign = own;
  foreign.kind = OpaqueKind::kUnsigned;
  const Written written = from_messages(concat(
      R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
        {"type":"thinking","thinking":"hm\n","signature":")",
      seal(own), R"("},{"type":"thinking","thinking":"x","signature":")", seal(foreign),
      R"("},{"type":"thinking","thinking":"y","signature":"EqRound"},{"type":"text",)"
      R"("text":"b"}]}])"));
  CHECK(written.json["input"][1] == Json::parse(R"({"type":"reasoning","id":"rs_1",
      "summary":[{"type":"summary_text","text":"hm\n"}],"encrypted_content":"gAAA+/="})"));
  CHECK(written.json["input"].size() == 3);
  CHECK(written.json["include"] == Json::parse(R"(["reasoning.encrypted_content"])"));
  CHECK(written.lossy() == "messages[].content[].thinking");
}

TEST_CASE("tools are declared as they were, without what responses does not know") {
  const Written written = from_messages(R"("messages":[{"role":"user","content":"a"}],"tools":[
      {"name":"f","description":"d","input_schema":{"type":"object","b":1,"a":2},
       "cache_control":{"type":"ephemeral"}},
      {"name":"later","input_schema":{"type":"object"},"defer_loading":true},
      {"type":"web_search_20250305","name":"web_search"}],
      "tool_choice":{"type":"any","disable_parallel_tool_use":true})");
  CHECK(written.json["tools"].dump() ==
        R"([{"type":"function","name":"f","description":"d","parameters":{"type":"object",)"
        R"("b":1,"a":2},"strict":false},)"
        R"({"type":"function","name":"later","parameters":{"type":"object"},"strict":false}])");
  CHECK(written.json["tool_choice"] == "required");
  CHECK(written.json["parallel_tool_calls"] == false);
  CHECK(written.lossy() == "cache_control tools[].defer_loading web_search_20250305");
}

TEST_CASE("a choice never names a tool that is not declared") {
  const Written written = from_messages(R"("messages":[{"role":"user","content":"a"}],
      "tools":[{"type":"web_search_20250305","name":"web_search"},
               {"name":"f","input_schema":{"type":"object"}}],
      "tool_choice":{"type":"tool","name":"web_search"})");
  CHECK_FALSE(written.json.contains("tool_choice"));
  CHECK(written.lossy() == "web_search_20250305 tool_choice");
  const Written none = from_messages(R"("messages":[{"role":"user","content":"a"}],
      "tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"auto"})");
  CHECK_FALSE(none.json.contains("tools"));
  CHECK_FALSE(none.json.contains("tool_choice"));
}

TEST_CASE("custom tools of chat stay custom, with the kind of each result") {
  const Written written = from_chat(R"("messages":[{"role":"user","content":"a"},
      {"role":"assistant","content":null,"tool_calls":[
        {"id":"call_1","type":"custom","custom":{"name":"patch","input":"*** a"}}]},
      {"role":"tool","tool_call_id":"call_1","content":"done"}],"tools":[
      {"type":"custom","custom":{"name":"patch","description":"d","format":
        {"type":"grammar","grammar":{"syntax":"lark","definition":"start: x"}}}}],
      "tool_choice":{"type":"custom","custom":{"name":"patch"}})");
  CHECK(written.json["input"][1] ==
        Json::parse(
            R"({"type":"custom_tool_call","call_id":"call_1","name":"patch","input":"*** a"})"));
  CHECK(written.json["input"][2]["type"] == "custom_tool_call_output");
  CHECK(written.json["tools"][0]["type"] == "custom");
  CHECK(written.json["tools"][0]["format"]["type"] == "grammar");
  CHECK(written.json["tools"][0]["format"]["syntax"] == "lark");
  CHECK(written.json["tool_choice"] == Json::parse(R"({"type":"custom","name":"patch"})"));
  CHECK(written.lossy().empty());
}

TEST_CASE("efforts, budgets and their displays become what to reason and what to show") {
  const auto reasoning = [](std::string_view members) {
    const Written written =
        from_messages(concat(R"("messages":[{"role":"user","content":"a"}],)", members));
    return written.json.value("reasoning", Json()).dump();
  };
  CHECK(reasoning(R"("thinking":{"type":"enabled","budget_tokens":1024})") ==
        R"({"effort":"low","summary":"auto"})");
  CHECK(reasoning(R"("thinking":{"type":"enabled","budget_tokens":4096})") ==
        R"({"effort":"medium","summary":"auto"})");
  CHECK(reasoning(R"("thinking":{"type":"enabled","budget_tokens":31999,"display":"omitted"})") ==
        R"({"effort":"high"})");
  CHECK(reasoning(R"("thinking":{"type":"adaptive"},"output_config":{"effort":"xhigh"})") ==
        R"({"effort":"xhigh","summary":"auto"})");
  CHECK(reasoning(R"("thinking":{"type":"disabled"})") == "null");
  CHECK(from_chat(R"("messages":[],"reasoning_effort":"none")").json["reasoning"].dump() ==
        R"({"effort":"none"})");
  CHECK(from_chat(R"("messages":[],"reasoning_effort":"low")").json["include"].dump() ==
        R"(["reasoning.encrypted_content"])");
}

TEST_CASE("formats, log-probabilities and what OpenAI's dialects share are kept") {
  const Written written = from_chat(R"("messages":[{"role":"user","content":"a"}],"stream":true,
      "response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,
        "schema":{"type":"object"}}},"verbosity":"low","logprobs":true,"top_logprobs":3,
      "temperature":0.50,"top_p":1,"user":"u","metadata":{"a":"b"},"prompt_cache_key":"k",
      "safety_identifier":"s","service_tier":"flex","store":true,"max_completion_tokens":5)");
  const Json& json = written.json;
  CHECK(json["stream"] == true);
  CHECK(json["text"].dump() ==
        R"({"format":{"type":"json_schema","name":"n","schema":{"type":"object"},)"
        R"("strict":true},"verbosity":"low"})");
  CHECK(json["include"].dump() == R"(["message.output_text.logprobs"])");
  CHECK(json["top_logprobs"] == 3);
  CHECK(json["temperature"] == 0.5);
  CHECK(json["user"] == "u");
  CHECK(json["metadata"]["a"] == "b");
  CHECK(json["prompt_cache_key"] == "k");
  CHECK(json["safety_identifier"] == "s");
  CHECK(json["service_tier"] == "flex");
  CHECK(json["store"] == true);
  CHECK(json["max_output_tokens"] == 5);
  CHECK(written.lossy().empty());
}

TEST_CASE("what responses cannot say is marked, or said where the channel takes it") {
  constexpr std::string_view kMembers = R"("messages":[{"role":"user","name":"Ann","content":"a"}],
      "stop":["x","y"],"seed":1,"frequency_penalty":0.5,"presence_penalty":0,"logit_bias":{"1":2})";
  CHECK(from_chat(kMembers).lossy() == "messages[].name seed frequency_penalty logit_bias stop");
  const Written taken(Dialect::kOpenaiChat, concat(R"({"model":"m",)", kMembers, "}"),
                      {"stop", "seed"});
  CHECK(taken.json["stop"].dump() == R"(["x","y"])");
  CHECK(taken.json["seed"] == 1);
  CHECK(taken.lossy() == "messages[].name frequency_penalty logit_bias");
  CHECK_FALSE(from_chat(R"("messages":[],"n":2)").fidelity.status());
}

TEST_CASE("a long user becomes a key of the cache, always the same") {
  const std::string user =
      R"("messages":[],"metadata":{"user_id":")" + std::string(200, 'u') + "\"}";
  const Written one = from_messages(user), two = from_messages(user);
  CHECK_FALSE(one.json.contains("user"));
  CHECK(one.json["prompt_cache_key"] == two.json["prompt_cache_key"]);
  CHECK(one.lossy().empty());
  const Written shorter = from_messages(R"("messages":[],"metadata":{"user_id":"me"})");
  CHECK(shorter.json["user"] == "me");
}

}  // namespace
}  // namespace hw::translate
