#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "neutral/opaque.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

using nlohmann::json;

// A request of an OpenAI client, put together by hand, and what becomes of it.
struct Written {
  Request request;
  Target target;
  Fidelity fidelity;
  std::string body;

  explicit Written(Dialect from = Dialect::kOpenaiResponses)
      : fidelity(from, Dialect::kAnthropicMessages) {
    request.dialect = from;
    target.model = "claude";
  }
  Part& say(Role role, std::string_view text) { return add(role, Part::Kind::kText, text); }
  Part& add(Role role, Part::Kind kind, std::string_view text = {}) {
    Turn& turn = request.turns.emplace_back();
    turn.role = role;
    Part& part = turn.parts.emplace_back();
    part.kind = kind;
    if (!text.empty()) part.text = Text::plain(text);
    return part;
  }
  Part& call(std::string_view id, std::string_view arguments) {
    Part& part = add(Role::kAssistant, Part::Kind::kToolCall, arguments);
    part.call_id = Text::plain(id);
    part.name = Text::plain("t");
    return part;
  }
  Part& result(std::string_view id, std::string_view text) {
    Part& part = add(Role::kUser, Part::Kind::kToolResult);
    part.call_id = Text::plain(id);
    part.content.emplace_back().text = Text::plain(text);
    return part;
  }
  Part& think(std::string_view text, OpaqueKind kind, std::string_view content) {
    Part& part = add(Role::kAssistant, Part::Kind::kReasoning, text);
    part.signature = Text::plain(request.keep(seal({kind, "", std::string(content)})));
    return part;
  }
  json write() {
    body.clear();
    write_request(Dialect::kAnthropicMessages, request, target, fidelity, body);
    const json parsed = json::parse(body, nullptr, false);
    REQUIRE_MESSAGE(!parsed.is_discarded(), body);
    return parsed;
  }
  std::string lossy() const {
    std::string out;
    for (const std::string& name : fidelity.lossy()) out += name + " ";
    return out;
  }
};

std::string types(const json& content) {
  std::string out;
  for (const json& block : content) out += block["type"].get<std::string>() + " ";
  return out;
}

TEST_CASE("messages gets the model, its limit and nothing that was not asked for") {
  Written one;
  one.say(Role::kUser, "hi");
  one.write();
  CHECK(one.body == R"({"model":"claude","max_tokens":8192,"messages":[{"role":"user","content":[)"
                    R"({"type":"text","text":"hi"}]}]})");
  CHECK(one.lossy().empty());
}

TEST_CASE("system texts in front are the system, later ones a text of the user's in their place") {
  Written one;
  one.say(Role::kSystem, "s");
  one.say(Role::kDeveloper, "d");
  one.say(Role::kUser, "u");
  one.say(Role::kDeveloper, "later \"1\"");
  one.say(Role::kUser, "v");
  const json body = one.write();
  CHECK(body["system"][0]["text"] == "s");
  CHECK(body["system"][1]["text"] == "d");
  REQUIRE(body["messages"].size() == 1);
  CHECK(body["messages"][0]["content"][1]["text"] == "<system>\nlater \"1\"\n</system>");
  CHECK(body["messages"][0]["content"][2]["text"] == "v");
  CHECK(one.lossy().empty());
}

TEST_CASE("user and assistant take turns, results come first, blank texts are left out") {
  Written one;
  one.say(Role::kUser, "u");
  one.say(Role::kAssistant, "\n\n");
  one.call("call.1", R"({"b":1,"a":2})");
  one.call("call_2", "");
  one.result("call.1", "r1");
  one.say(Role::kSystem, "note");
  one.result("call_2", "r2").is_error = true;
  const json body = one.write();
  REQUIRE(body["messages"].size() == 3);
  const json& calls = body["messages"][1]["content"];
  CHECK(types(calls) == "tool_use tool_use ");
  CHECK(calls[0]["id"].get<std::string>().starts_with("hw64_"));
  CHECK(one.body.find(R"("input":{"b":1,"a":2})") != std::string::npos);
  CHECK(calls[1]["input"] == json::object());
  const json& results = body["messages"][2]["content"];
  CHECK(types(results) == "tool_result tool_result text ");
  CHECK(results[0]["tool_use_id"] == calls[0]["id"]);
  CHECK(results[0]["content"] == "r1");
  CHECK(results[1]["is_error"] == true);
}

TEST_CASE("arguments that are no object become one, and a custom tool's text too") {
  Written one;
  one.say(Role::kUser, "u");
  one.call("a", "not json");
  one.call("b", "*** patch").tool_kind = ToolKind::kCustom;
  one.result("a", "");
  one.result("b", "");
  const json body = one.write();
  CHECK(body["messages"][1]["content"][0]["input"]["input"] == "not json");
  CHECK(body["messages"][1]["content"][1]["input"]["input"] == "*** patch");
}

TEST_CASE("an assistant that spoke first, or nobody at all, gets words of a user in front") {
  Written first;
  first.say(Role::kAssistant, "hello");
  const json body = first.write();
  CHECK(body["messages"][0]["role"] == "user");
  CHECK(body["messages"][1]["role"] == "assistant");
  Written nobody;
  nobody.say(Role::kSystem, "s");
  CHECK(nobody.write()["messages"][0]["role"] == "user");
}

TEST_CASE("thinking goes back to its maker byte for byte, before what came of it") {
  Written one;
  one.say(Role::kUser, "u");
  one.think("h\u00e9\n", OpaqueKind::kSignature, "c2ln");
  one.think("", OpaqueKind::kRedacted, "ZGF0YQ");
  one.call("a", "{}");
  one.result("a", "r");
  one.request.thinking.effort = Text::plain("high");
  one.request.max_tokens = 64000;
  const json body = one.write();
  const json& content = body["messages"][1]["content"];
  CHECK(types(content) == "thinking redacted_thinking tool_use ");
  CHECK(content[0]["thinking"] == "h\u00e9\n");
  CHECK(content[0]["signature"] == "c2ln");
  CHECK(content[1]["data"] == "ZGF0YQ");
  CHECK(body["thinking"]["budget_tokens"] == 16384);
  CHECK(one.lossy().empty());
}

TEST_CASE("thinking of another maker, or that nothing came of, is left out with a mark") {
  Written foreign;
  foreign.say(Role::kUser, "u");
  foreign.think("x", OpaqueKind::kEncrypted, "e");
  foreign.say(Role::kAssistant, "a");
  CHECK(types(foreign.write()["messages"][1]["content"]) == "text ");
  CHECK(foreign.lossy() == "input[].summary ");
  Written last;
  last.say(Role::kUser, "u");
  last.think("x", OpaqueKind::kSignature, "e");
  last.say(Role::kUser, "v");
  CHECK(last.write()["messages"].size() == 1);
  CHECK(last.lossy() == "input[].encrypted_content ");
  Written empty;
  empty.say(Role::kUser, "u");
  empty.add(Role::kAssistant, Part::Kind::kReasoning);
  empty.write();
  CHECK(empty.lossy().empty());
}

TEST_CASE("the model does not think where a call of the running turn lacks its thinking") {
  Written one;
  one.say(Role::kUser, "u");
  one.call("a", "{}");
  one.result("a", "r");
  one.request.thinking.effort = Text::plain("low");
  CHECK(!one.write().contains("thinking"));
  CHECK(one.lossy() == "reasoning.effort ");
  one.say(Role::kAssistant, "done");
  one.say(Role::kUser, "next");
  CHECK(one.write()["thinking"] == json({{"type", "enabled"}, {"budget_tokens", 1024}}));
}

TEST_CASE(
    "a budget of thinking is at most half of the answer, and no thinking where that is little") {
  Written one;
  one.say(Role::kUser, "u");
  one.request.thinking.effort = Text::plain("xhigh");
  CHECK(one.write()["thinking"]["budget_tokens"] == 4096);
  one.request.thinking.effort = Text::plain("minimal");
  CHECK(one.write()["thinking"]["budget_tokens"] == 1024);
  CHECK(one.lossy().empty());
  one.request.max_tokens = 2000;
  CHECK(!one.write().contains("thinking"));
  CHECK(one.lossy() == "reasoning.effort ");
  one.request.thinking.effort = Text::plain("none");
  Written off;
  off.say(Role::kUser, "u");
  off.request.thinking.effort = Text::plain("none");
  CHECK(!off.write().contains("thinking"));
  CHECK(off.lossy().empty());
}

TEST_CASE("a thinking model gets no sampling fields, another one of temperature and top_p") {
  Written thinks;
  thinks.say(Role::kUser, "u");
  thinks.request.temperature = "0.2";
  thinks.request.top_p = "1.0";
  thinks.request.thinking.effort = Text::plain("low");
  CHECK(!thinks.write().contains("temperature"));
  CHECK(thinks.lossy() == "temperature ");
  Written warm;
  warm.say(Role::kUser, "u");
  warm.request.temperature = "1.7";
  warm.request.top_p = "0.9";
  const json body = warm.write();
  CHECK(body["temperature"] == 1);
  CHECK(!body.contains("top_p"));
  CHECK(warm.lossy() == "top_p ");
  Written cut;
  cut.say(Role::kUser, "u");
  cut.request.temperature = "1";
  cut.request.top_p = "0.90";
  CHECK(cut.write()["top_p"] == 0.9);
  CHECK(cut.body.find("0.90") != std::string::npos);
  CHECK(cut.lossy().empty());
}

Tool function(std::string_view name, Raw schema) {
  Tool tool;
  tool.name = Text::plain(name);
  tool.schema = schema;
  return tool;
}

TEST_CASE("tools keep their schemas as written, and each has one of an object") {
  Written one;
  one.say(Role::kUser, "u");
  one.request.tools.push_back(function("a", R"({"type":"object","z":1,"a":2})"));
  one.request.tools.push_back(function("b", R"({"properties":{}})"));
  one.request.tools.push_back(function("c", ""));
  one.request.tools.back().strict = true;
  one.request.tools.push_back(function("close", "{}"));
  one.request.tools.back().name_space = Text::plain("agents");
  const json body = one.write();
  CHECK(one.body.find(R"("input_schema":{"type":"object","z":1,"a":2})") != std::string::npos);
  for (const json& tool : body["tools"]) CHECK(tool["input_schema"]["type"] == "object");
  CHECK(body["tools"][2]["strict"] == true);
  CHECK(body["tools"][3]["name"] == "agents__close");
  CHECK(!body.contains("tool_choice"));
  CHECK(one.lossy().empty());
}

TEST_CASE("marks for the prompt's cache stay where a client of chat put them") {
  Written one(Dialect::kOpenaiChat);
  const Raw mark = R"({"type":"ephemeral"})";
  one.say(Role::kSystem, "s").cache_control = mark;
  one.say(Role::kUser, "u").cache_control = mark;
  Part& image = one.add(Role::kUser, Part::Kind::kImage);
  image.media = {Media::Kind::kUrl, Text(), Text::plain("https://a/b")};
  image.cache_control = mark;
  one.call("a", "{}").cache_control = mark;
  one.result("a", "r").cache_control = mark;
  one.request.tools.push_back(function("a", ""));
  one.request.tools.back().cache_control = mark;
  const json body = one.write();
  const json expected = json::parse(mark);
  CHECK(body["system"][0]["cache_control"] == expected);
  CHECK(body["messages"][0]["content"][0]["cache_control"] == expected);
  CHECK(body["messages"][0]["content"][1]["cache_control"] == expected);
  CHECK(body["messages"][1]["content"][0]["cache_control"] == expected);
  CHECK(body["messages"][2]["content"][0]["cache_control"] == expected);
  CHECK(body["tools"][0]["cache_control"] == expected);
  CHECK(one.lossy().empty());
}

TEST_CASE("custom tools are functions of one string, the provider's own are left out with a mark") {
  Written one;
  one.say(Role::kUser, "u");
  Tool& custom = one.request.tools.emplace_back();
  custom.kind = Tool::Kind::kCustom;
  custom.name = Text::plain("patch");
  custom.description = Text::plain("Applies a patch.");
  custom.format = R"({"type":"grammar","syntax":"lark","definition":"start: X"})";
  Tool& search = one.request.tools.emplace_back();
  search.kind = Tool::Kind::kServer;
  search.type = "web_search";
  one.request.tool_choice.kind = ToolChoice::Kind::kAuto;
  one.request.tool_choice.parallel = false;
  const json body = one.write();
  REQUIRE(body["tools"].size() == 1);
  CHECK(body["tools"][0]["input_schema"]["required"][0] == "input");
  CHECK(body["tools"][0]["description"].get<std::string>().find("start: X") != std::string::npos);
  CHECK(body["tool_choice"] == json({{"type", "auto"}, {"disable_parallel_tool_use", true}}));
  CHECK(one.lossy() == "web_search ");
}

TEST_CASE("a choice among tools needs tools, and only allowed ones are declared") {
  Written one;
  one.say(Role::kUser, "u");
  one.request.tool_choice.kind = ToolChoice::Kind::kRequired;
  CHECK(!one.write().contains("tool_choice"));
  one.request.tools.push_back(function("a", ""));
  one.request.tools.push_back(function("b", ""));
  one.request.tool_choice.allowed.push_back(Text::plain("b"));
  one.request.thinking.effort = Text::plain("low");
  const json body = one.write();
  REQUIRE(body["tools"].size() == 1);
  CHECK(body["tools"][0]["name"] == "b");
  CHECK(body["tool_choice"]["type"] == "any");
  CHECK(!body.contains("thinking"));
}

TEST_CASE("pictures and papers come by URL or bytes, text files as text") {
  Written one;
  Part& image = one.add(Role::kUser, Part::Kind::kImage);
  image.media = {Media::Kind::kBase64, Text(), Text::plain("/9j/4AA")};
  image.detail = Text::plain("high");
  one.add(Role::kUser, Part::Kind::kImage).media = {Media::Kind::kUrl, Text(),
                                                    Text::plain("https://a/b")};
  Part& paper = one.add(Role::kUser, Part::Kind::kDocument);
  paper.media = {Media::Kind::kBase64, Text::plain("text/csv"), Text::plain("YSxiPn4+")};
  paper.name = Text::plain("t.csv");
  one.add(Role::kUser, Part::Kind::kDocument).media = {Media::Kind::kBase64, Text(),
                                                       Text::plain("JVBE")};
  const json content = one.write()["messages"][0]["content"];
  CHECK(content[0]["source"]["media_type"] == "image/jpeg");
  CHECK(content[1]["source"] == json({{"type", "url"}, {"url", "https://a/b"}}));
  CHECK(content[2]["source"]["data"] == "a,b>~>");
  CHECK(content[2]["title"] == "t.csv");
  CHECK(content[3]["source"]["media_type"] == "application/pdf");
  CHECK(one.lossy() == "input[].content[].detail ");
}

TEST_CASE("what cannot be left out is refused by its name") {
  Written file;
  file.add(Role::kUser, Part::Kind::kImage).media.kind = Media::Kind::kFile;
  file.write();
  REQUIRE(!file.fidelity.status());
  CHECK(file.fidelity.status().error().detail == "input[].content[].file_id");
  Written sound;
  sound.add(Role::kUser, Part::Kind::kAudio);
  sound.write();
  CHECK(!sound.fidelity.status());
  Written choices;
  choices.request.n = 2;
  choices.write();
  CHECK(!choices.fidelity.status());
  Written state;
  state.request.others.push_back({"previous_response_id", "\"r\"", Feature::kStoredState});
  state.write();
  REQUIRE(!state.fidelity.status());
  CHECK(state.fidelity.status().error().detail == "previous_response_id");
}

TEST_CASE("settings that stand at their defaults are no loss, others are marked") {
  Written one(Dialect::kOpenaiChat);
  one.say(Role::kUser, "u");
  Request& request = one.request;
  request.metadata = "{}";
  request.service_tier = Text::plain("auto");
  request.store = false;
  request.verbosity = Text::plain("medium");
  request.frequency_penalty = "0.0";
  request.presence_penalty = "0";
  request.logit_bias = "{}";
  request.top_logprobs = "0";
  request.tool_choice.parallel = true;
  one.write();
  CHECK(one.lossy().empty());
  request.metadata = R"({"a":"b"})";
  request.service_tier = Text::plain("flex");
  request.store = true;
  request.verbosity = Text::plain("low");
  request.seed = "1";
  request.presence_penalty = "0.5";
  request.prompt_cache_key = Text::plain("k");
  request.format.kind = Format::Kind::kJsonObject;
  one.write();
  CHECK(one.lossy() ==
        "response_format metadata prompt_cache_key service_tier store verbosity seed "
        "presence_penalty ");
}

TEST_CASE("a schema of the answer, stop sequences, the user and extra fields are said") {
  Written one(Dialect::kOpenaiChat);
  one.say(Role::kUser, "u");
  one.request.format.kind = Format::Kind::kJsonSchema;
  one.request.format.schema = R"({"type":"object","b":1})";
  one.request.stop = {Text::plain("\n"), Text::escaped("a\\n")};
  one.request.safety_identifier = Text::plain("s");
  one.request.stream = true;
  one.request.others = {{"top_a", "0.5"}, {"context_management", "{}"}};
  const std::vector<std::string> extra{"top_a"};
  one.target.extra_fields = extra;
  const json body = one.write();
  CHECK(body["output_config"]["format"]["schema"]["b"] == 1);
  CHECK(body["stop_sequences"] == json({"a\n"}));
  CHECK(body["metadata"]["user_id"] == "s");
  CHECK(body["stream"] == true);
  CHECK(body["top_a"] == 0.5);
  CHECK(one.lossy() == "stop context_management ");
}

}  // namespace
}  // namespace hw::translate
