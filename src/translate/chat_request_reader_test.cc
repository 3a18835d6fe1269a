#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "neutral/opaque.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

// A request that was read, with the body that its views go into.
struct Read {
  std::string body;
  Request request;
  Status status;
  explicit Read(std::string text) : body(std::move(text)) {
    status = read_request(Dialect::kOpenaiChat, body, request);
  }
  std::string error() const { return status ? "" : status.error().message; }
};

std::string with_messages(std::string_view messages) {
  return concat(R"({"model":"m","messages":)", messages, "}");
}

std::string others(const Request& request) {
  std::string all;
  for (const OtherField& field : request.others) append(all, concat(field.name, " "));
  return all;
}

TEST_CASE("a chat request's fields are read, the newer word for the limit wins") {
  const Read read(
      R"({"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":false},
    "max_completion_tokens":9,"max_tokens":5,"temperature":0.50,"top_p":1,"top_k":40,"seed":7,
    "stop":"end","logprobs":true,"top_logprobs":2,"n":2,"user":"u","safety_identifier":"s",
    "metadata":{"a":"b"},"prompt_cache_key":"k","service_tier":"flex","store":false,
    "verbosity":"low","reasoning_effort":"xhigh","frequency_penalty":0.5,"presence_penalty":-1,
    "logit_bias":{"5":1}})");
  REQUIRE(read.status);
  const Request& request = read.request;
  CHECK(request.model.is("m"));
  CHECK(request.stream);
  CHECK(request.include_usage == false);
  CHECK(request.max_tokens == 9);
  CHECK(request.temperature == "0.50");
  CHECK(request.top_k == "40");
  REQUIRE(request.stop.size() == 1);
  CHECK(request.stop[0].is("end"));
  CHECK(request.n == 2);
  CHECK(request.service_tier.is("flex"));
  CHECK(request.store == false);
  CHECK(request.thinking.kind == Thinking::Kind::kOn);
  CHECK(request.thinking.effort.is("xhigh"));
  CHECK(request.logit_bias == R"({"5":1})");
  CHECK(others(request).empty());
}

TEST_CASE("fields that say what is meant anyway are absent") {
  const Read read(R"({"model":"m","messages":[],"stop":null,"frequency_penalty":0,"logit_bias":{},
    "metadata":{},"service_tier":"auto","modalities":["text"],"max_tokens":-1,"top_logprobs":0,
    "stream_options":{"include_obfuscation":false},"response_format":{"type":"text"},"tools":[]})");
  REQUIRE(read.status);
  CHECK(read.request.stop.empty());
  CHECK(read.request.frequency_penalty.empty());
  CHECK(read.request.metadata.empty());
  CHECK_FALSE(read.request.service_tier.present());
  CHECK_FALSE(read.request.max_tokens);
  CHECK(others(read.request).empty());
}

TEST_CASE("fields that nobody knows are kept by their names, with the rule they fall under") {
  const Read read(
      R"({"model":"m","top_\u0061":1,"modalities":["text","audio"],"audio":{"voice":"x"},
    "web_search_options":{},"prediction":null,"messages":[{"role":"user","weight":1,"content":[
    {"type":"text","text":"a","foo":1}]},{"role":"user","weight":1,"content":"b"}]})");
  REQUIRE(read.status);
  CHECK(others(read.request) ==
        "top_a modalities audio web_search_options messages[].weight messages[].content[].foo ");
  CHECK(read.request.others[1].feature == Feature::kAudioOutput);
  CHECK(read.request.others[3].feature == Feature::kServerTool);
}

TEST_CASE("messages become turns where they stood, results of tools are the user's") {
  const Read read(with_messages(R"([{"role":"system","content":"s"},{"role":"user","name":"ann",
    "content":[{"type":"text","text":"a\n"},
      {"type":"image_url","image_url":{"url":"data:image\/png;base64,AA\/A","detail":"low"}},
      {"type":"image_url","image_url":{"url":"https://x/y.png"}},
      {"type":"input_audio","input_audio":{"data":"BBBB","format":"wav"}},
      {"type":"file","file":{"filename":"f.pdf","file_data":"data:application/pdf;base64,CC"}},
      {"type":"file","file":{"file_id":"file-1"}},
      {"type":"video_url","video_url":{"url":"v"}}]},
    {"role":"assistant","content":null,"tool_calls":[
      {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
      {"id":"c2","type":"custom","custom":{"name":"p","input":"text"}}]},
    {"role":"tool","tool_call_id":"c1","content":"r1"},
    {"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"r2"}]},
    {"role":"developer","content":"d"}])"));
  REQUIRE_MESSAGE(read.status, read.error());
  const auto& turns = read.request.turns;
  REQUIRE(turns.size() == 6);
  CHECK(turns[0].role == Role::kSystem);
  CHECK(turns[1].name.is("ann"));
  const auto& parts = turns[1].parts;
  REQUIRE(parts.size() == 7);
  CHECK(parts[0].text.is("a\n"));
  CHECK(parts[1].media.kind == Media::Kind::kBase64);
  CHECK(parts[1].media.media_type.is("image/png"));
  CHECK(parts[1].media.data.is("AA/A"));
  CHECK(parts[1].detail.is("low"));
  CHECK(parts[2].media.kind == Media::Kind::kUrl);
  CHECK(parts[3].media.media_type.is("audio/wav"));
  CHECK(parts[4].media.media_type.is("application/pdf"));
  CHECK(parts[4].name.is("f.pdf"));
  CHECK(parts[5].media.kind == Media::Kind::kFile);
  CHECK(parts[6].kind == Part::Kind::kForeign);
  CHECK(parts[6].type == "video_url");
  REQUIRE(turns[2].parts.size() == 2);
  CHECK(turns[2].parts[0].text.is(R"({"a":1})"));
  CHECK(turns[2].parts[1].tool_kind == ToolKind::kCustom);
  CHECK(turns[3].role == Role::kUser);
  CHECK(turns[3].parts[0].call_id.is("c1"));
  CHECK(turns[4].parts[0].tool_kind == ToolKind::kCustom);
  CHECK(turns[4].parts[0].content[0].text.is("r2"));
  CHECK(turns[5].role == Role::kDeveloper);
}

TEST_CASE("functions of 2023 are tools, and their calls find their results") {
  const Read read(R"({"model":"m","functions":[{"name":"f","parameters":{"type":"object"}}],
    "function_call":{"name":"f"},"messages":[
    {"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
    {"role":"function","name":"f","content":"one"},
    {"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}},
    {"role":"function","name":"f","content":"two"}]})");
  REQUIRE_MESSAGE(read.status, read.error());
  const auto& turns = read.request.turns;
  REQUIRE(turns.size() == 4);
  CHECK(turns[0].parts[0].call_id.is(turns[1].parts[0].call_id.str()));
  CHECK(turns[2].parts[0].call_id.is(turns[3].parts[0].call_id.str()));
  CHECK_FALSE(turns[0].parts[0].call_id.is(turns[2].parts[0].call_id.str()));
  CHECK(read.request.tools[0].schema == R"({"type":"object"})");
  CHECK(read.request.tool_choice.kind == ToolChoice::Kind::kNamed);
}

TEST_CASE("tools of all kinds are read, what stands twice is no loss") {
  const Read read(R"({"model":"m","messages":[],"parallel_tool_calls":false,"tools":[
    {"type":"function","name":"f","function":{"name":"f","description":"d","strict":true,
      "parameters":{"b":1,"a":2}}},
    {"type":"custom","custom":{"name":"p","format":{"type":"grammar",
      "grammar":{"syntax":"lark","definition":"x"}}}},
    {"type":"web_search"},
    {"type":"function","function":{"name":"g","eager":1},"cache_control":{"type":"ephemeral"}}],
    "tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required",
      "tools":[{"type":"function","function":{"name":"g"}}]}}})");
  REQUIRE_MESSAGE(read.status, read.error());
  const auto& tools = read.request.tools;
  REQUIRE(tools.size() == 4);
  CHECK(tools[0].schema == R"({"b":1,"a":2})");
  CHECK(tools[0].strict);
  CHECK(tools[0].others.empty());
  CHECK(tools[1].format == R"({"type":"grammar","syntax":"lark","definition":"x"})");
  CHECK(tools[2].kind == Tool::Kind::kServer);
  CHECK(tools[2].type == "web_search");
  REQUIRE(tools[3].others.size() == 2);
  CHECK(tools[3].others[0] == "eager");
  CHECK(tools[3].others[1] == "cache_control");
  CHECK(read.request.tool_choice.kind == ToolChoice::Kind::kRequired);
  CHECK(read.request.tool_choice.allowed.at(0).is("g"));
  CHECK(read.request.tool_choice.parallel == false);
}

TEST_CASE("a wrong shape is refused by the field's name") {
  const auto error = [](std::string_view fields) {
    return Read(concat(R"({"model":"m",)", fields, "}")).error();
  };
  const auto message = [](std::string_view text) { return Read(with_messages(text)).error(); };
  CHECK(error(R"("a":1)") == "Your request: messages must be an array of messages");
  CHECK(error(R"("messages":[],"temperature":"1")") ==
        "Your request: temperature must be a number");
  CHECK(error(R"("messages":[],"tools":[{"type":"function"}])") ==
        "Your request: tools[0].function.name must be a string");
  CHECK(message(R"([{"role":"user"},{"role":"robot"}])") ==
        "Your request: messages[1].role must be system, developer, user, assistant, tool or "
        "function");
  CHECK(message(R"([{"role":"user","content":[{"type":"text"}]}])") ==
        "Your request: messages[0].content[0].text must be a string");
  CHECK(message(R"([{"role":"user","content":5}])") ==
        "Your request: messages[0].content must be a string or an array of parts");
  CHECK(message(R"([{"role":"tool","content":"x"}])") ==
        "Your request: messages[0].tool_call_id must be the id of a call, a string");
  CHECK(message(R"([{"role":"assistant","tool_calls":[{"id":"c","function":{}}]}])") ==
        "Your request: messages[0].tool_calls[0].function.name must be a string");
}

std::string assistant(std::string_view members) {
  return with_messages(concat(R"([{"role":"assistant","content":"x",)", members, "}]"));
}

TEST_CASE("thinking comes back in its pieces, each with its proof") {
  const std::string a = seal({OpaqueKind::kSignature, "", "sigA"});
  const std::string b = seal({OpaqueKind::kRedacted, "", "dataB"});
  const std::string c = seal({OpaqueKind::kSignature, "", "sigC"});
  const Read read(
      assistant(concat(R"("reasoning_content":"ab\u00e9cd","reasoning_details":[)",
                       R"({"type":"reasoning.encrypted","data":")", a, R"(~4","index":0},)",
                       R"({"type":"reasoning.encrypted","data":")", b, R"(~0","index":1},)",
                       R"({"type":"reasoning.encrypted","data":")", c, R"(~2","index":2}])")));
  REQUIRE_MESSAGE(read.status, read.error());
  const auto& parts = read.request.turns[0].parts;
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].text.is("ab\u00e9"));
  CHECK(parts[0].signature.is(a));
  CHECK_FALSE(parts[1].text.present());
  CHECK(parts[1].signature.is(b));
  CHECK(parts[2].text.is("cd"));
  CHECK(parts[2].signature.is(c));
  CHECK(parts[3].text.is("x"));
}

TEST_CASE("thinking that a client changed has no proof, what was hidden keeps its own") {
  const std::string a = seal({OpaqueKind::kSignature, "", "sigA"});
  const std::string b = seal({OpaqueKind::kRedacted, "", "dataB"});
  const Read read(
      assistant(concat(R"("reasoning_content":"cut","tool_calls":[{"id":"c","type":"function",)",
                       R"("function":{"name":"f","arguments":""},"extra_content":{"google":)",
                       R"({"thought_signature":")", a, "~4 ", b, R"(~0"}}}])")));
  REQUIRE_MESSAGE(read.status, read.error());
  const auto& parts = read.request.turns[0].parts;
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].text.is("cut"));
  CHECK_FALSE(parts[0].signature.present());
  CHECK(parts[1].signature.is(b));
  CHECK(others(read.request).empty());
}

TEST_CASE("thinking of other gateways and servers is read") {
  const Read blocks(assistant(R"("thinking_blocks":[{"type":"thinking","thinking":"t",
    "signature":"sig"},{"type":"redacted_thinking","data":"d"}])"));
  REQUIRE(blocks.request.turns[0].parts.size() == 3);
  CHECK(blocks.request.turns[0].parts[0].text.is("t"));
  CHECK(unseal(blocks.request.turns[0].parts[0].signature)->content == "sig");
  CHECK(unseal(blocks.request.turns[0].parts[1].signature)->kind == OpaqueKind::kRedacted);

  const Read router(assistant(R"("reasoning_details":[{"type":"reasoning.text","text":"a"},
    {"type":"reasoning.summary","summary":"b"},{"type":"reasoning.encrypted","data":"zz"}])"));
  CHECK(router.request.turns[0].parts[0].text.is("ab"));

  const Read mistral(with_messages(R"([{"role":"assistant","content":[{"type":"thinking",
    "thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"x"}]}])"));
  CHECK(mistral.request.turns[0].parts[0].kind == Part::Kind::kReasoning);
  CHECK(mistral.request.turns[0].parts[0].text.is("hm"));
}

TEST_CASE("how much to think is read in the words of OpenAI, OpenRouter and LiteLLM") {
  const auto thinking = [](std::string_view field) {
    const Read read(concat(R"({"model":"m","messages":[],)", field, "}"));
    CHECK(read.status);
    return read.request.thinking.kind;
  };
  CHECK(thinking(R"("reasoning_effort":"none")") == Thinking::Kind::kOff);
  CHECK(thinking(R"("reasoning":{"effort":"high"})") == Thinking::Kind::kOn);
  CHECK(thinking(R"("reasoning":{"enabled":false})") == Thinking::Kind::kOff);
  CHECK(thinking(R"("reasoning":{"max_tokens":2000,"exclude":false})") == Thinking::Kind::kOn);
  CHECK(thinking(R"("thinking":{"type":"enabled","budget_tokens":5})") == Thinking::Kind::kOn);
  CHECK(thinking(R"("thinking":{"type":"disabled"})") == Thinking::Kind::kOff);
}

}  // namespace
}  // namespace hw::translate
