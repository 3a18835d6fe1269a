// What an answer of another dialect says is said again to a client of responses.
#include <doctest/doctest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "http/sse.h"
#include "neutral/opaque.h"
#include "responses/stream_writer.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

using Json = nlohmann::ordered_json;

// Events as a reader makes them.
struct Script {
  Events events;
  Script& start() { return add(Started{}); }
  Script& begin(uint32_t block, BlockKind kind) {
    BlockBegun begun;
    begun.block = block;
    begun.kind = kind;
    return add(begun);
  }
  Script& call(uint32_t block, std::string_view name, std::string_view id) {
    BlockBegun begun;
    begun.block = block;
    begun.kind = BlockKind::kToolCall;
    begun.name = Text::plain(name);
    begun.call_id = Text::plain(id);
    return add(begun);
  }
  Script& text(uint32_t block, std::string_view text, Delta::Kind kind = Delta::Kind::kText) {
    Delta delta;
    delta.block = block;
    delta.kind = kind;
    delta.text = Text::plain(text);
    return add(delta);
  }
  Script& raw(uint32_t block, std::string_view raw, Delta::Kind kind) {
    Delta delta;
    delta.block = block;
    delta.kind = kind;
    delta.raw = raw;
    return add(delta);
  }
  Script& end(uint32_t block) { return add(BlockEnded{block}); }
  Script& finish(StopReason reason) {
    Finished finished;
    finished.reason = reason;
    return add(finished);
  }
  Script& used(int64_t input, int64_t cached, int64_t output, int64_t reasoning) {
    Used used;
    used.usage.input = input;
    used.usage.cached_input = cached;
    used.usage.output = output;
    used.usage.reasoning = reasoning;
    used.usage.told = true;
    return add(used);
  }
  Script& add(Event event) {
    events.push_back(std::move(event));
    return *this;
  }
};

struct Answer {
  explicit Answer(Script& script, bool encrypted = true, const Request* request = nullptr)
      : fidelity(Dialect::kAnthropicMessages, Dialect::kOpenaiResponses) {
    reply.model = "asked";
    reply.request_id = "req_07";
    reply.created_s = 1767225600;
    reply.encrypted_reasoning = encrypted;
    reply.input_estimate = 7;
    if (request != nullptr) reply.tools = ToolNames(*request);
    writer = make_responses_stream_writer(reply, fidelity);
    for (const Event& event : script.events) writer->write(event, bytes);
    if (!writer->failed()) writer->end(bytes);
    read(bytes);
    write_answer(Dialect::kOpenaiResponses, script.events, reply, fidelity, whole);
  }
  void read(std::string_view rest) {
    http::SseScanner scanner;
    http::SseEvent event;
    while (scanner.next(rest, event).value_or(false)) {
      Json json = Json::parse(event.data, nullptr, false);
      REQUIRE_MESSAGE(!json.is_discarded(), event.data);
      CHECK(json["type"] == event.type);
      types += concat(types.empty() ? "" : " ", event.type.substr(event.type.find('.') + 1));
      events.push_back(std::move(json));
    }
  }
  const Json& final() const { return events.back()["response"]; }
  // The events of that type.
  std::vector<Json> of(std::string_view type) const {
    std::vector<Json> found;
    for (const Json& event : events) {
      if (event["type"] == concat("response.", type)) found.push_back(event);
    }
    return found;
  }
  Reply reply;
  Fidelity fidelity;
  std::unique_ptr<StreamWriter> writer;
  std::string bytes, whole, types;
  std::vector<Json> events;
};

Script text_answer() {
  Script script;
  script.start().begin(0, BlockKind::kText).text(0, "Hi ").text(0, "\"you\"").end(0);
  script.finish(StopReason::kEnd).used(10, 4, 5, 0);
  return script;
}

TEST_CASE("a text is told from its message's beginning to its end, and once more in the response") {
  Script script = text_answer();
  const Answer answer(script);
  CHECK(answer.types ==
        "created in_progress output_item.added content_part.added output_text.delta "
        "output_text.delta output_text.done content_part.done output_item.done completed");
  CHECK(answer.bytes.find(
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
            "\"sequence_number\":4,\"item_id\":\"msg_07_0\",\"output_index\":0,\"content_index\":0,"
            "\"delta\":\"Hi \",\"logprobs\":[]}\n\n") != std::string::npos);
  CHECK(answer.final().dump() ==
        R"({"id":"resp_07","object":"response","created_at":1767225600,"status":"completed",)"
        R"("background":false,"error":null,"incomplete_details":null,"instructions":null,)"
        R"("max_output_tokens":null,"model":"asked","output":[{"id":"msg_07_0","type":"message",)"
        R"("status":"completed","role":"assistant","content":[{"type":"output_text",)"
        R"("text":"Hi \"you\"","annotations":[],"logprobs":[]}]}],"parallel_tool_calls":true,)"
        R"("previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,)"
        R"("temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],)"
        R"("top_p":null,"truncation":"disabled","usage":{"input_tokens":10,)"
        R"("input_tokens_details":{"cached_tokens":4},"output_tokens":5,)"
        R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":15},"user":null,)"
        R"("metadata":{}})");
}

TEST_CASE("sequence numbers count from 0 without holes") {
  Script script = text_answer();
  const Answer answer(script);
  for (size_t i = 0; i < answer.events.size(); ++i) CHECK(answer.events[i]["sequence_number"] == i);
}

TEST_CASE("texts that follow each other are parts of one message") {
  Script script;
  script.start().begin(0, BlockKind::kText).text(0, "a").end(0);
  script.begin(1, BlockKind::kRefusal).text(1, "no").end(1);
  script.begin(2, BlockKind::kText).end(2);  // an empty one is none
  script.finish(StopReason::kEnd);
  const Answer answer(script);
  REQUIRE(answer.final()["output"].size() == 1);
  const Json& content = answer.final()["output"][0]["content"];
  REQUIRE(content.size() == 2);
  CHECK(content[1] == Json::parse(R"({"type":"refusal","refusal":"no"})"));
  CHECK(answer.of("refusal.done")[0]["content_index"] == 1);
}

TEST_CASE("calls are items with empty arguments first and all of them at their end") {
  Script script;
  script.start().begin(0, BlockKind::kText).text(0, "ok").end(0);
  script.call(1, "f", "toolu_1").call(2, "g", "toolu_2");
  script.text(1, "{\"a\"").text(2, "{}").text(1, ":1}").end(1).end(2);
  script.call(3, "h", "toolu_3").end(3);
  script.finish(StopReason::kToolUse);
  const Answer answer(script);
  const Json& output = answer.final()["output"];
  REQUIRE(output.size() == 4);
  CHECK(output[1].dump() ==
        R"({"id":"fc_07_1","type":"function_call","status":"completed","call_id":"toolu_1",)"
        R"("name":"f","arguments":"{\"a\":1}"})");
  CHECK(output[2]["arguments"] == "{}");
  CHECK(output[3]["arguments"] == "{}");
  const auto added = answer.of("output_item.added");
  CHECK(added[1]["item"]["arguments"] == "");
  CHECK(added[1]["item"]["status"] == "in_progress");
  CHECK(answer.of("output_item.done")[0]["item"]["type"] == "message");
  CHECK(answer.of("function_call_arguments.done").size() == 3);
  CHECK(answer.final()["status"] == "completed");
}

TEST_CASE("tools are named as the client declared them, custom ones get their text") {
  const std::string body = R"({"model":"m","input":"x","tools":[
      {"type":"namespace","name":"agents","tools":[{"type":"function","name":"close"}]},
      {"type":"custom","name":"apply_patch"}]})";
  Request request;
  REQUIRE(read_request(Dialect::kOpenaiResponses, body, request));
  Script script;
  script.start().call(0, "agents__close", "c1").text(0, "{}").end(0);
  script.call(1, "apply_patch", "c2").text(1, R"({"inp)").text(1, R"(ut":"*** a\)");
  script.text(1, R"(nb"})").end(1).finish(StopReason::kToolUse);
  const Answer answer(script, true, &request);
  const Json& output = answer.final()["output"];
  CHECK(output[0]["name"] == "close");
  CHECK(output[0]["namespace"] == "agents");
  CHECK(output[1].dump() ==
        R"({"id":"ctc_07_1","type":"custom_tool_call","status":"completed","call_id":"c2",)"
        R"("name":"apply_patch","input":"*** a\nb"})");
  const auto deltas = answer.of("custom_tool_call_input.delta");
  REQUIRE(deltas.size() == 2);
  CHECK(deltas[0]["delta"] == "*** a");
  CHECK(answer.of("custom_tool_call_input.done")[0]["input"] == "*** a\nb");
}

TEST_CASE("thinking is a summary, and its proof goes to clients that asked for it") {
  Script script;
  script.start().begin(0, BlockKind::kReasoning).text(0, "hm").text(0, "!");
  Delta section;
  section.text = Text::plain("more");
  section.new_section = true;
  script.add(section).text(0, "hw.s..YQ", Delta::Kind::kSignature).end(0);
  script.begin(1, BlockKind::kText).text(1, "a").end(1).finish(StopReason::kEnd);
  const Answer answer(script);
  CHECK(answer.types.find("output_item.added reasoning_summary_part.added "
                          "reasoning_summary_text.delta reasoning_summary_text.delta "
                          "reasoning_summary_text.done reasoning_summary_part.done "
                          "reasoning_summary_part.added reasoning_summary_text.delta "
                          "reasoning_summary_text.done reasoning_summary_part.done "
                          "output_item.done output_item.added content_part.added") !=
        std::string::npos);
  CHECK(answer.final()["output"][0].dump() ==
        R"({"id":"rs_07_0","type":"reasoning","status":"completed","summary":[)"
        R"({"type":"summary_text","text":"hm!"},{"type":"summary_text","text":"more"}],)"
        R"("encrypted_content":"hw.s..YQ"})");
  CHECK(answer.of("reasoning_summary_text.delta")[2]["summary_index"] == 1);
  const Answer unasked(script, false);
  CHECK_FALSE(unasked.final()["output"][0].contains("encrypted_content"));
}

TEST_CASE("annotations that name a URL and log-probabilities come with their text") {
  Script script;
  script.start().begin(0, BlockKind::kText).text(0, "a");
  script.raw(0, R"({"type":"web_search_result_location","url":"https://x","title":"X"})",
             Delta::Kind::kAnnotation);
  script.raw(0,
             R"({"type":"url_citation","url_citation":{"url":"https://y","title":"Y",)"
             R"("start_index":1,"end_index":2}})",
             Delta::Kind::kAnnotation);
  script.raw(0, R"({"type":"char_location"})", Delta::Kind::kAnnotation);
  script.raw(0, R"([{"token":"a","logprob":-1}])", Delta::Kind::kLogprobs);
  script.raw(0, R"([{"token":"b","logprob":-2}])", Delta::Kind::kLogprobs);
  script.raw(0, "[]", Delta::Kind::kLogprobs);
  script.end(0).finish(StopReason::kEnd);
  const Answer answer(script);
  const Json& part = answer.final()["output"][0]["content"][0];
  REQUIRE(part["annotations"].size() == 2);
  CHECK(part["annotations"][1].dump() ==
        R"({"type":"url_citation","start_index":1,"end_index":2,"url":"https://y","title":"Y"})");
  CHECK(part["logprobs"].size() == 2);
  CHECK(answer.of("output_text.annotation.added")[1]["annotation_index"] == 1);
  CHECK(answer.fidelity.lossy().size() == 1);
}

TEST_CASE("an answer that was cut is incomplete and says why") {
  Script length;
  length.start().begin(0, BlockKind::kText).text(0, "a").end(0).finish(StopReason::kLength);
  const Answer cut(length);
  CHECK(cut.types.ends_with("output_item.done incomplete"));
  CHECK(cut.final()["status"] == "incomplete");
  CHECK(cut.final()["incomplete_details"]["reason"] == "max_output_tokens");
  CHECK(cut.final()["output"][0]["status"] == "incomplete");
  Script refusal;
  refusal.start().finish(StopReason::kRefusal);
  CHECK(Answer(refusal).final()["incomplete_details"]["reason"] == "content_filter");
}

TEST_CASE("where the upstream tells no usage it is estimated") {
  Script script;
  script.start().begin(0, BlockKind::kText).text(0, "12345").end(0).finish(StopReason::kEnd);
  const Answer answer(script);
  CHECK(answer.final()["usage"]["input_tokens"] == 7);
  CHECK(answer.final()["usage"]["output_tokens"] == 2);
  CHECK(answer.final()["usage"]["total_tokens"] == 9);
}

TEST_CASE("a failure ends the stream as a failed response with what there was") {
  Script script;
  script.start().begin(0, BlockKind::kText).text(0, "a");
  Failed failed;
  failed.family = Family::kAnthropic;
  failed.words.type = "overloaded_error";
  failed.words.message = "Overloaded";
  script.add(failed).text(0, "late");
  const Answer answer(script);
  CHECK(answer.writer->failed());
  CHECK(answer.types.ends_with("output_text.delta failed"));
  CHECK(answer.final()["status"] == "failed");
  CHECK(answer.final()["error"]["message"] == "Overloaded");
  CHECK(answer.final()["error"]["code"] == "server_error");
  CHECK(answer.final()["output"][0]["content"][0]["text"] == "a");
  CHECK(Json::parse(answer.whole)["status"] == "failed");
}

TEST_CASE("a broken connection fails the response, also before it began") {
  const Reply reply;
  Fidelity fidelity(Dialect::kOpenaiChat, Dialect::kOpenaiResponses);
  const auto writer = make_responses_stream_writer(reply, fidelity);
  std::string out;
  writer->fail(Error(ErrorCode::kUpstreamBroken, "gone"), out);
  CHECK(out.starts_with("event: response.created\n"));
  CHECK(out.find("event: response.failed\n") != std::string::npos);
  CHECK(out.find("\"error\":{\"code\":\"channel_broken\",\"message\":\"gone\"}") !=
        std::string::npos);
}

TEST_CASE("a heartbeat is a comment at first, then a progress that repeats number and output") {
  const Reply reply;
  Fidelity fidelity(Dialect::kOpenaiChat, Dialect::kOpenaiResponses);
  const auto writer = make_responses_stream_writer(reply, fidelity);
  std::string out;
  writer->heartbeat(out);
  CHECK(out == ": keep-alive\n\n");
  Script script;
  script.start().begin(0, BlockKind::kText).text(0, "a");
  for (const Event& event : script.events) writer->write(event, out);
  out.clear();
  writer->heartbeat(out);
  CHECK(
      out.starts_with("event: response.in_progress\ndata: {\"type\":\"response.in_progress\","
                      "\"sequence_number\":4,\"response\":{"));
  CHECK(out.find("\"text\":\"a\"") != std::string::npos);
  out.clear();
  writer->write(BlockEnded{0}, out);
  CHECK(out.find("\"sequence_number\":5,") != std::string::npos);
}

TEST_CASE("a whole answer is the response that its stream ends with") {
  Script script;
  script.start().begin(0, BlockKind::kReasoning).text(0, "t").end(0);
  script.begin(1, BlockKind::kText).text(1, "a").end(1);
  script.call(2, "f", "c 1").text(2, "{}").end(2).finish(StopReason::kToolUse).used(1, 0, 2, 1);
  const Answer answer(script);
  CHECK(Json::parse(answer.whole) == answer.final());
}

TEST_CASE("foreign blocks are left out with a mark") {
  Script script;
  BlockBegun foreign;
  foreign.kind = BlockKind::kForeign;
  foreign.type = "server_tool_use";
  script.start().add(foreign).end(0).finish(StopReason::kEnd);
  const Answer answer(script);
  CHECK(answer.final()["output"].empty());
  CHECK(answer.fidelity.lossy() == std::vector<std::string>{"server_tool_use"});
}

TEST_CASE("what is kept for the end has a limit, beyond it pieces are told all the same") {
  const Reply reply;
  Fidelity fidelity(Dialect::kOpenaiChat, Dialect::kOpenaiResponses);
  ResponsesStreamWriter writer(reply, fidelity);
  std::string out;
  Script script;
  script.start().begin(0, BlockKind::kText);
  for (const Event& event : script.events) writer.write(event, out);
  const std::string piece(size_t{1} << 20, 'x');
  Script more;
  more.text(0, piece);
  for (size_t sent = 0; sent < ResponsesStreamWriter::kKeptBytesMax; sent += piece.size()) {
    out.clear();
    writer.write(more.events[0], out);
  }
  out.clear();
  more.text(0, "last");
  writer.write(more.events[1], out);
  CHECK(out.find("\"delta\":\"last\"") != std::string::npos);
  CHECK(fidelity.lossy() == std::vector<std::string>{"output"});
  out.clear();
  writer.end(out);
  CHECK(out.size() > ResponsesStreamWriter::kKeptBytesMax);
  CHECK(out.find("last") == std::string::npos);
}

}  // namespace
}  // namespace hw::translate
