#include <doctest/doctest.h>

#include <string>

#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

// The request of a body that is fine.
struct Read {
  std::string body;
  Request request;
  explicit Read(std::string text) : body(std::move(text)) {
    const Status read = read_request(Dialect::kAnthropicMessages, body, request);
    REQUIRE_MESSAGE(read, (read ? "" : read.error().message));
  }
  const Request* operator->() const { return &request; }
  const Part& part(size_t turn, size_t part) const { return request.turns.at(turn).parts.at(part); }
};

std::string refusal(std::string_view body) {
  Request request;
  const Status read = read_request(Dialect::kAnthropicMessages, body, request);
  REQUIRE(!read);
  CHECK(read.error().code == ErrorCode::kBadRequest);
  return read.error().message;
}

std::string with_blocks(std::string_view blocks) {
  return R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":[)" +
         std::string(blocks) + "]}]}";
}

TEST_CASE("the system text is the first turn wherever the body has it, and inside it stays there") {
  const Read read(R"({"model":"m","messages":[{"role":"user","content":"a"},
    {"role":"system","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]},
    {"role":"assistant","content":"c"}],"system":"s\n","stream":true,"max_tokens":32000})");
  REQUIRE(read->turns.size() == 4);
  CHECK(read->turns[0].role == Role::kSystem);
  CHECK(read.part(0, 0).text.str() == "s\n");
  CHECK(read->turns[1].role == Role::kUser);
  CHECK(read->turns[2].role == Role::kSystem);
  CHECK(read.part(2, 0).cache_control == R"({"type":"ephemeral"})");
  CHECK(read->turns[3].role == Role::kAssistant);
  CHECK(read->stream);
  CHECK(read->max_tokens == 32000);
  CHECK(read->others.empty());
}

TEST_CASE("settings keep their numbers as they were written") {
  const Read read(R"({"model":"m","messages":[],"temperature":1.0,"top_p":0.90,"top_k":5e0,
    "stop_sequences":["</block>","\u0041"],"service_tier":"auto","metadata":{"user_id":"u","x":1},
    "thinking":{"type":"enabled","budget_tokens":31999,"display":"omitted"},
    "output_config":{"effort":"high","format":{"type":"json_schema","schema":{"b":1,"a":2}},"z":0},
    "tool_choice":{"type":"tool","name":"t","disable_parallel_tool_use":true}})");
  CHECK(read->temperature == "1.0");
  CHECK(read->top_p == "0.90");
  CHECK(read->top_k == "5e0");
  REQUIRE(read->stop.size() == 2);
  CHECK(read->stop[1].str() == "A");
  CHECK(read->user.str() == "u");
  CHECK(read->thinking.kind == Thinking::Kind::kOn);
  CHECK(read->thinking.budget == 31999);
  CHECK(read->thinking.display.is("omitted"));
  CHECK(read->thinking.effort.is("high"));
  CHECK(read->format.kind == Format::Kind::kJsonSchema);
  CHECK(read->format.schema == R"({"b":1,"a":2})");
  CHECK(read->tool_choice.kind == ToolChoice::Kind::kNamed);
  CHECK(read->tool_choice.name.is("t"));
  CHECK(read->tool_choice.parallel == false);
  REQUIRE(read->others.size() == 2);
  CHECK(read->others[0].name == "metadata.x");
  CHECK(read->others[1].name == "output_config.z");
}

TEST_CASE("a field without a place is kept by its name, and a thread falls under stored state") {
  const Read read(R"({"model":"m","messages":[{"role":"user","content":"a","x":1},
    {"role":"user","content":"b","x":2,"y":null}],"thread":{"type":"create"},
    "context_management":{"edits":[]},"container":null})");
  REQUIRE(read->others.size() == 3);
  CHECK(read->others[0].name == "thread");
  CHECK(read->others[0].feature == Feature::kStoredState);
  CHECK(read->others[1].name == "context_management");
  CHECK(read->others[1].value == R"({"edits":[]})");
  CHECK(read->others[1].feature == Feature::kOtherField);
  CHECK(read->others[2].name == "messages[].x");
}

TEST_CASE("images and documents say where their bytes are") {
  const Read read(with_blocks(R"(
    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
    {"type":"image","source":{"type":"url","url":"https://a/b.png"}},
    {"type":"image","source":{"type":"file","file_id":"file_1"}},
    {"type":"document","title":"T","context":"C","citations":{"enabled":true},
     "source":{"type":"text","media_type":"text/plain","data":"words"}},
    {"type":"document","citations":{"enabled":false},
     "source":{"type":"base64","media_type":"application/pdf","data":"JVBE"}})"));
  CHECK(read.part(0, 0).media.kind == Media::Kind::kBase64);
  CHECK(read.part(0, 0).media.media_type.is("image/png"));
  CHECK(read.part(0, 1).media.kind == Media::Kind::kUrl);
  CHECK(read.part(0, 2).media.kind == Media::Kind::kFile);
  CHECK(read.part(0, 3).kind == Part::Kind::kDocument);
  CHECK(read.part(0, 3).media.kind == Media::Kind::kText);
  CHECK(read.part(0, 3).name.is("T"));
  CHECK(read.part(0, 3).context.is("C"));
  CHECK(read.part(0, 3).citations == R"({"enabled":true})");
  CHECK(read.part(0, 4).citations.empty());
}

TEST_CASE("documents of blocks and search results become documents of text, images behind them") {
  const Read read(with_blocks(R"(
    {"type":"document","title":"D","source":{"type":"content","content":[
      {"type":"text","text":"one \"1\""},
      {"type":"image","source":{"type":"url","url":"https://a/b"}},
      {"type":"text","text":"two"}]}},
    {"type":"search_result","source":"https://s","title":"S","content":[
      {"type":"text","text":"found"}],"citations":{"enabled":false}})"));
  REQUIRE(read->turns[0].parts.size() == 3);
  CHECK(read.part(0, 0).media.data.str() == "one \"1\"\ntwo");
  CHECK(read.part(0, 1).kind == Part::Kind::kImage);
  CHECK(read.part(0, 2).name.str() == "S (https://s)");
  CHECK(read.part(0, 2).media.data.is("found"));
}

TEST_CASE("calls keep their arguments as they were written, results their parts and their error") {
  const Read read(R"({"model":"m","messages":[
    {"role":"assistant","content":[
      {"type":"thinking","thinking":"hm\n","signature":"c2ln"},
      {"type":"redacted_thinking","data":"ZGF0YQ"},
      {"type":"thinking","thinking":"unsigned","signature":""},
      {"type":"tool_use","id":"toolu_1","name":"t","input":{"b": 1.0, "a":"\u00e9"},
       "caller":{"type":"direct"}},
      {"type":"tool_use","id":"toolu_2","name":"t","input":{}}]},
    {"role":"user","content":[
      {"tool_use_id":"toolu_1","type":"tool_result","content":"ok","is_error":false},
      {"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":[
        {"type":"text","text":"no"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}},
        {"type":"tool_reference","tool_name":"Edit"}]}]}]})");
  CHECK(read.part(0, 0).kind == Part::Kind::kReasoning);
  CHECK(read.part(0, 0).text.str() == "hm\n");
  CHECK(read.part(0, 0).signature.str() == "c2ln");
  CHECK(!read.part(0, 1).text.present());
  CHECK(read.part(0, 1).signature.str() == "ZGF0YQ");
  CHECK(!read.part(0, 2).signature.present());
  CHECK(read.part(0, 3).text.str() == R"({"b": 1.0, "a":"\u00e9"})");
  CHECK(read.part(0, 3).call_id.is("toolu_1"));
  CHECK(read.part(0, 4).text.empty());
  CHECK(read.part(1, 0).kind == Part::Kind::kToolResult);
  CHECK(read.part(1, 0).content.at(0).text.is("ok"));
  CHECK(!read.part(1, 0).is_error);
  CHECK(read.part(1, 1).is_error);
  REQUIRE(read.part(1, 1).content.size() == 3);
  CHECK(read.part(1, 1).content[1].kind == Part::Kind::kImage);
  CHECK(read.part(1, 1).content[2].text.str() == "Tool available: Edit");
  CHECK(read->others.empty());
}

TEST_CASE("blocks of the provider's own and of times to come are foreign parts, whole") {
  const Read read(with_blocks(R"(
    {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}},
    {"type":"image","source":{"type":"video"}},
    {"type":"text","text":"x","new":1,"citations":null})"));
  REQUIRE(read->turns[0].parts.size() == 3);
  CHECK(read.part(0, 0).kind == Part::Kind::kForeign);
  CHECK(read.part(0, 0).type == "server_tool_use");
  CHECK(read.part(0, 0).raw ==
        R"({"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}})");
  CHECK(read.part(0, 1).kind == Part::Kind::kForeign);
  REQUIRE(read->others.size() == 1);
  CHECK(read->others[0].name == "messages[].content[].new");
}

TEST_CASE("tools are the client's own, or run by the provider") {
  const Read read(R"({"model":"m","messages":[],"tools":[
    {"name":"Bash","description":"d","input_schema":{"type":"object","properties":{"b":{},"a":{}}},
     "cache_control":{"type":"ephemeral"},"strict":true,"eager_input_streaming":true},
    {"type":"custom","name":"P","input_schema":{"type":"object"},"defer_loading":true},
    {"type":"web_search_20250305","name":"web_search","max_uses":3}]})");
  REQUIRE(read->tools.size() == 3);
  CHECK(read->tools[0].schema == R"({"type":"object","properties":{"b":{},"a":{}}})");
  CHECK(read->tools[0].strict);
  CHECK(read->tools[0].cache_control == R"({"type":"ephemeral"})");
  REQUIRE(read->tools[0].others.size() == 1);
  CHECK(read->tools[0].others[0] == "eager_input_streaming");
  CHECK(read->tools[1].kind == Tool::Kind::kFunction);
  CHECK(read->tools[1].deferred);
  CHECK(read->tools[2].kind == Tool::Kind::kServer);
  CHECK(read->tools[2].type == "web_search_20250305");
  CHECK(read->tools[2].raw == R"({"type":"web_search_20250305","name":"web_search","max_uses":3})");
}

TEST_CASE("what cannot be read is refused by the field's name") {
  CHECK(refusal("[]").find("JSON object") != std::string::npos);
  CHECK(refusal(R"({"model":"m"})").find("messages must") != std::string::npos);
  CHECK(refusal(R"({"messages":[{"role":"tool","content":"x"}]})").find("messages[0].role") !=
        std::string::npos);
  CHECK(refusal(R"({"messages":[{"role":"user","content":7}]})").find("messages[0].content must") !=
        std::string::npos);
  CHECK(refusal(with_blocks(R"({"text":"x"})")).find("messages[0].content[].type") !=
        std::string::npos);
  CHECK(refusal(with_blocks(R"({"type":"tool_result","content":"x"})")).find("tool_use_id") !=
        std::string::npos);
  CHECK(refusal(with_blocks(R"({"type":"tool_use","id":"x","name":""})")).find("[].name") !=
        std::string::npos);
  CHECK(refusal(with_blocks(R"({"type":"image","source":{"type":"url"}})")).find("source.url") !=
        std::string::npos);
  CHECK(refusal(R"({"messages":[],"tools":[{"input_schema":{}}]})").find("tools[0].name") !=
        std::string::npos);
}

TEST_CASE("a body of more parts than a reader takes is refused") {
  std::string body = R"({"messages":[{"role":"user","content":[)";
  for (size_t i = 0; i <= kPartsMax; ++i) body += R"({"type":"text","text":""},)";
  body.back() = ']';
  body += "}]}";
  CHECK(refusal(body).find("fewer blocks") != std::string::npos);
}

}  // namespace
}  // namespace hw::translate
