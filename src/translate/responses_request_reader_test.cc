// What a request in responses says is found in the Request that it becomes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

struct Read {
  explicit Read(std::string text) : body(std::move(text)) {
    status = read_request(Dialect::kOpenaiResponses, body, request);
  }
  std::string body;
  Request request;
  Status status;
};

// A request with these items.
std::string with_items(std::string_view items) {
  return concat(R"({"model":"m","input":[)", items, "]}");
}

const OtherField* find_other(const Request& request, std::string_view name) {
  for (const OtherField& field : request.others) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

TEST_CASE("instructions are a system turn in front, and a text as input is a user's") {
  const Read read(R"({"input":"hi","instructions":"be \"brief\"","model":"m"})");
  REQUIRE(read.status);
  REQUIRE(read.request.turns.size() == 2);
  CHECK(read.request.turns[0].role == Role::kSystem);
  CHECK(read.request.turns[0].parts[0].text.is("be \"brief\""));
  CHECK(read.request.turns[1].role == Role::kUser);
  CHECK(read.request.turns[1].parts[0].text.is("hi"));
  CHECK(read.request.model.is("m"));
}

TEST_CASE("items stay in order, each with its role, with or without a type") {
  const Read read(with_items(R"(
      {"type":"message","id":"msg_1","role":"developer","content":[{"type":"input_text",
        "text":"a"}]},
      {"role":"system","content":"b"},{"role":"user","content":[]},
      {"role":"assistant","status":"completed","content":[
        {"type":"output_text","text":"c","annotations":[],"logprobs":[]},
        {"type":"refusal","refusal":"no"}]},
      {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","namespace":"ns",
       "arguments":"{\"a\":1}","status":"completed"},
      {"type":"function_call_output","call_id":"call_1","output":"out"})"));
  REQUIRE(read.status);
  const auto& turns = read.request.turns;
  REQUIRE(turns.size() == 6);
  CHECK(turns[0].role == Role::kDeveloper);
  CHECK(turns[1].role == Role::kSystem);
  CHECK(turns[2].parts.empty());
  REQUIRE(turns[3].parts.size() == 2);
  CHECK(turns[3].parts[0].annotations.empty());
  CHECK(turns[3].parts[1].kind == Part::Kind::kRefusal);
  const Part& call = turns[4].parts.at(0);
  CHECK(turns[4].role == Role::kAssistant);
  CHECK(call.kind == Part::Kind::kToolCall);
  CHECK(call.name.is("f"));
  CHECK(call.name_space.is("ns"));
  CHECK(call.call_id.is("call_1"));
  CHECK(call.item_id.is("fc_1"));
  CHECK(call.text.is(R"({"a":1})"));
  CHECK(turns[5].role == Role::kUser);
  CHECK(turns[5].parts[0].content.at(0).text.is("out"));
  CHECK(read.request.others.empty());
}

TEST_CASE("a tool's result may be a list of texts, images and files") {
  const Read read(with_items(R"({"type":"function_call_output","call_id":"c","output":[
      {"type":"input_text","text":"t"},
      {"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"auto"},
      {"type":"input_image","image_url":"https://x/y.png","detail":"low"},
      {"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"},
      {"type":"input_file","file_url":"https://x/y.pdf"},{"type":"input_file","file_id":"file_1"},
      {"type":"input_audio","input_audio":{"data":"UklG","format":"mp3"}}]})"));
  REQUIRE(read.status);
  const auto& content = read.request.turns[0].parts[0].content;
  REQUIRE(content.size() == 7);
  CHECK(content[1].media.kind == Media::Kind::kBase64);
  CHECK(content[1].media.media_type.is("image/png"));
  CHECK_FALSE(content[1].detail.present());
  CHECK(content[2].media.kind == Media::Kind::kUrl);
  CHECK(content[2].detail.is("low"));
  CHECK(content[3].kind == Part::Kind::kDocument);
  CHECK(content[3].name.is("a.pdf"));
  CHECK(content[3].media.data.is("JVBE"));
  CHECK(content[4].media.kind == Media::Kind::kUrl);
  CHECK(content[5].media.kind == Media::Kind::kFile);
  CHECK(content[6].kind == Part::Kind::kAudio);
  CHECK(content[6].media.media_type.is("audio/mp3"));
}

TEST_CASE("reasoning keeps its text, its proof and its id") {
  const Read read(with_items(R"(
      {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"one"}],
       "encrypted_content":"gAAA"},
      {"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"a\n"},
       {"type":"summary_text","text":"b"}],"encrypted_content":""},
      {"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"raw"}]},
      {"type":"reasoning","summary":[],"encrypted_content":"only"})"));
  REQUIRE(read.status);
  const auto& turns = read.request.turns;
  REQUIRE(turns.size() == 4);
  CHECK(turns[0].parts[0].kind == Part::Kind::kReasoning);
  CHECK(turns[0].parts[0].text.is("one"));
  CHECK(turns[0].parts[0].signature.is("gAAA"));
  CHECK(turns[0].parts[0].item_id.is("rs_1"));
  CHECK(turns[1].parts[0].text.is("a\n\n\nb"));
  CHECK_FALSE(turns[1].parts[0].signature.present());
  CHECK(turns[2].parts[0].text.is("raw"));
  CHECK_FALSE(turns[3].parts[0].text.present());
}

TEST_CASE("tools of every kind are told apart, those of a namespace keep it") {
  const Read read(R"({"model":"m","input":"x","tools":[
      {"type":"function","name":"f","description":"d","strict":true,"parameters":{"type":"object"}},
      {"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark",
        "definition":"s"}},
      {"type":"custom","name":"free","format":{"type":"text"}},
      {"type":"namespace","name":"ns","description":"agents","tools":[
        {"type":"function","name":"g","description":"e","strict":false,"parameters":{}},
        {"type":"function","name":"h","parameters":null,"strict":null}]},
      {"type":"web_search","search_context_size":"low"},
      {"type":"function","name":"i","defer_loading":true}]})");
  REQUIRE(read.status);
  const auto& tools = read.request.tools;
  REQUIRE(tools.size() == 7);
  CHECK(tools[0].strict);
  CHECK(tools[0].schema == R"({"type":"object"})");
  CHECK(tools[1].kind == Tool::Kind::kCustom);
  CHECK(tools[1].format.starts_with("{\"type\":\"grammar\""));
  CHECK(tools[2].format.empty());
  CHECK(tools[3].name_space.is("ns"));
  CHECK(tools[3].description.is("Tools of ns: agents\n\ne"));
  CHECK(tools[4].schema.empty());
  CHECK_FALSE(tools[4].description.present());
  CHECK(tools[5].kind == Tool::Kind::kServer);
  CHECK(tools[5].type == "web_search");
  REQUIRE(tools[6].others.size() == 1);
  CHECK(tools[6].others[0] == "defer_loading");
}

TEST_CASE("a choice of tools is a word, a name or a list") {
  const auto choice = [](std::string_view json) {
    const Read read(concat(R"({"input":"x","tool_choice":)", json, "}"));
    REQUIRE(read.status);
    return std::pair(read.request.tool_choice.kind, read.request.tool_choice.name.str());
  };
  using Kind = ToolChoice::Kind;
  CHECK(choice("\"auto\"").first == Kind::kAuto);
  CHECK(choice("\"none\"").first == Kind::kNone);
  CHECK(choice("\"required\"").first == Kind::kRequired);
  CHECK(choice("null").first == Kind::kAbsent);
  CHECK(choice(R"({"type":"function","name":"f"})") == std::pair(Kind::kNamed, std::string("f")));
  const Read allowed(R"({"input":"x","parallel_tool_calls":false,"tool_choice":
      {"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"}]}})");
  CHECK(allowed.request.tool_choice.kind == Kind::kRequired);
  CHECK(allowed.request.tool_choice.allowed.at(0).is("f"));
  CHECK(allowed.request.tool_choice.parallel == false);
  const Read hosted(R"({"input":"x","tool_choice":{"type":"web_search_preview"}})");
  REQUIRE(find_other(hosted.request, "tool_choice") != nullptr);
  CHECK(find_other(hosted.request, "tool_choice")->feature == Feature::kServerTool);
}

TEST_CASE("how the answer is to be made is read from its nested fields") {
  const Read read(R"({"input":"x","reasoning":{"effort":"high","summary":"auto"},
      "text":{"verbosity":"low","format":{"type":"json_schema","name":"n","strict":true,
      "schema":{"type":"object"}}},"include":["reasoning.encrypted_content"],
      "max_output_tokens":9,"temperature":0.50,"top_p":1,"top_logprobs":2,"store":false,
      "user":"u","safety_identifier":"s","prompt_cache_key":"k","service_tier":"flex",
      "metadata":{"a":"b"},"stream":true})");
  REQUIRE(read.status);
  const Request& request = read.request;
  CHECK(request.thinking.kind == Thinking::Kind::kOn);
  CHECK(request.thinking.effort.is("high"));
  CHECK(request.thinking.summary.is("auto"));
  CHECK(request.verbosity.is("low"));
  CHECK(request.format.kind == Format::Kind::kJsonSchema);
  CHECK(request.format.strict == true);
  CHECK(request.include_encrypted_reasoning);
  CHECK(request.max_tokens == 9);
  CHECK(request.temperature == "0.50");
  CHECK(request.logprobs);
  CHECK(request.store == false);
  CHECK(request.metadata == R"({"a":"b"})");
  CHECK(request.service_tier.is("flex"));
  CHECK(request.stream);
  CHECK(request.others.empty());
}

TEST_CASE("no effort is thinking switched off") {
  const Read read(R"({"input":"x","reasoning":{"effort":"none"}})");
  CHECK(read.request.thinking.kind == Thinking::Kind::kOff);
  const Read summary(R"({"input":"x","reasoning":{"summary":"auto"}})");
  CHECK(summary.request.thinking.kind == Thinking::Kind::kAbsent);
}

TEST_CASE("what says the default or nothing is no field that could be lost") {
  const Read read(R"({"input":"x","truncation":"disabled","background":false,"include":[],
      "metadata":{},"service_tier":"auto","previous_response_id":null,"reasoning":null,
      "text":{"format":{"type":"text"},"verbosity":"medium"},"top_logprobs":0,
      "some_new_field":null})");
  REQUIRE(read.status);
  CHECK(read.request.others.empty());
  CHECK_FALSE(read.request.service_tier.present());
  CHECK_FALSE(read.request.logprobs);
  CHECK_FALSE(read.request.verbosity.present());
}

TEST_CASE("stored state and the background fall under their own rules, by the field's name") {
  for (const std::string_view field : {"previous_response_id", "conversation", "prompt"}) {
    const Read read(concat(R"({"model":"m",")", field, R"(":"id_1"})"));
    REQUIRE(read.status);
    REQUIRE(find_other(read.request, field) != nullptr);
    CHECK(find_other(read.request, field)->feature == Feature::kStoredState);
  }
  const Read background(R"({"input":"x","background":true})");
  CHECK(find_other(background.request, "background")->feature == Feature::kBackground);
  const Read reference(with_items(R"({"type":"item_reference","id":"msg_1"},{"id":"msg_2"})"));
  REQUIRE(reference.status);
  REQUIRE(reference.request.others.size() == 1);
  CHECK(reference.request.others[0].feature == Feature::kStoredState);
}

TEST_CASE("what the model has no place for is named, once") {
  const Read read(R"({"model":"m","truncation":"auto","client_metadata":{"a":"b"},"input":[
      {"role":"assistant","phase":"commentary","content":"a"},
      {"role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"b",
        "x":1}]},
      {"type":"web_search_call","id":"ws_1","status":"completed","action":{}},
      {"type":"computer_call_output","call_id":"c","output":{}},
      {"role":"user","content":[{"type":"input_\u0077hat"}]}]})");
  REQUIRE(read.status);
  std::vector<std::string> names;
  for (const OtherField& field : read.request.others) names.emplace_back(field.name);
  CHECK(names == std::vector<std::string>{"input[].phase", "input[].content[].x", "truncation",
                                          "client_metadata"});
  const auto& turns = read.request.turns;
  REQUIRE(turns.size() == 5);
  CHECK(turns[2].role == Role::kAssistant);
  CHECK(turns[2].parts[0].kind == Part::Kind::kForeign);
  CHECK(turns[2].parts[0].type == "web_search_call");
  CHECK(turns[2].parts[0].raw.starts_with("{\"type\":\"web_search_call\""));
  CHECK(turns[3].role == Role::kUser);
  CHECK(turns[4].parts[0].type == "input_what");
}

TEST_CASE("a part that cannot be left out and is wrong is refused, and the message names it") {
  struct Example {
    std::string body, field;
  };
  const std::vector<Example> examples = {
      {R"({"model":"m"})", "`input`"},
      {R"({"input":7})", "`input`"},
      {with_items("7"), "`input[0]`"},
      {with_items(R"({"role":"user","content":"a"},{"role":"tool","content":"b"})"),
       "`input[1].role`"},
      {with_items(R"({"role":"user","content":5})"), "`input[0].content`"},
      {with_items(R"({"role":"user","content":[{"text":"a"}]})"), "`input[0].content`"},
      {with_items(R"({"role":"user","content":[{"type":"input_image"}]})"), "`input[0].content`"},
      {with_items(R"({"type":"function_call","name":"f","arguments":"{}"})"), "`input[0].call_id`"},
      {with_items(R"({"type":"function_call","call_id":"c"})"), "`input[0].name`"},
      {with_items(R"({"type":"function_call","call_id":"c","name":"f","arguments":{}})"),
       "`input[0].arguments`"},
      {with_items(R"({"type":"function_call_output","call_id":"c","output":{}})"),
       "`input[0].output`"},
      {with_items("{}"), "`input[0].type`"},
      {R"({"input":"x","tools":{}})", "`tools`"},
      {R"({"input":"x","tools":[{"type":"function"}]})", "`tools`"},
      {R"({"input":"x","tool_choice":"any"})", "`tool_choice`"},
      {R"({"input":"x","temperature":"hot"})", "`temperature`"},
      {R"({"input":"x","max_output_tokens":1.5})", "`max_output_tokens`"},
      {R"({"input":"x","text":{"format":{"type":"json_schema"}}})", "`text.format.schema`"},
  };
  for (const Example& example : examples) {
    CAPTURE(example.body);
    const Read read(example.body);
    REQUIRE_FALSE(read.status);
    CHECK(read.status.error().code == ErrorCode::kBadRequest);
    CHECK(read.status.error().message.find(example.field) != std::string::npos);
  }
}

}  // namespace
}  // namespace hw::translate
