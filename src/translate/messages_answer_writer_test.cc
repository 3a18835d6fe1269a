#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "http/sse.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

using nlohmann::json;

BlockBegun begun(uint32_t block, BlockKind kind) {
  BlockBegun out;
  out.block = block;
  out.kind = kind;
  return out;
}

BlockBegun call(uint32_t block, std::string_view id, std::string_view name) {
  BlockBegun out = begun(block, BlockKind::kToolCall);
  out.call_id = Text::plain(id);
  out.name = Text::plain(name);
  return out;
}

Delta delta(uint32_t block, std::string_view text, Delta::Kind kind = Delta::Kind::kText) {
  Delta out;
  out.block = block;
  out.kind = kind;
  out.text = Text::plain(text);
  return out;
}

Used used(int64_t input, int64_t cached, int64_t output, int64_t reasoning) {
  Used out;
  out.usage.input = input;
  out.usage.cached_input = cached;
  out.usage.output = output;
  out.usage.reasoning = reasoning;
  out.usage.told = true;
  return out;
}

struct Written {
  Reply reply;
  Fidelity fidelity{Dialect::kOpenaiChat, Dialect::kAnthropicMessages};
  Events events;

  Written() {
    reply.model = "asked-for";
    reply.request_id = "req_07";
    reply.input_estimate = 7;
    events.emplace_back(Started{});
  }
  std::string stream() {
    const auto writer = make_stream_writer(Dialect::kAnthropicMessages, reply, fidelity);
    std::string out;
    for (const Event& event : events) writer->write(event, out);
    if (!writer->failed()) writer->end(out);
    return out;
  }
  json answer() {
    std::string out;
    write_answer(Dialect::kAnthropicMessages, events, reply, fidelity, out);
    const json parsed = json::parse(out, nullptr, false);
    REQUIRE_MESSAGE(!parsed.is_discarded(), out);
    return parsed;
  }
};

// What the SDK makes of a stream; checks on the way that blocks follow each other.
json accumulated(std::string_view stream) {
  http::SseScanner scanner;
  http::SseEvent event;
  json message;
  int open = -1;
  std::string arguments;
  for (;;) {
    const auto found = scanner.next(stream, event);
    REQUIRE(found);
    if (!*found) break;
    const json data = json::parse(event.data);
    CHECK(data["type"] == event.type);
    if (event.type == "message_start") {
      message = data["message"];
    } else if (event.type == "content_block_start") {
      CHECK(open == -1);
      CHECK(data["index"] == message["content"].size());
      open = data["index"];
      message["content"].push_back(data["content_block"]);
      arguments.clear();
    } else if (event.type == "content_block_delta") {
      REQUIRE(data["index"] == open);
      json& block = message["content"].back();
      const json& piece = data["delta"];
      if (piece["type"] == "text_delta") {
        block["text"] = block["text"].get<std::string>() + piece["text"].get<std::string>();
      } else if (piece["type"] == "thinking_delta") {
        block["thinking"] =
            block["thinking"].get<std::string>() + piece["thinking"].get<std::string>();
      } else if (piece["type"] == "signature_delta") {
        block["signature"] = piece["signature"];
      } else if (piece["type"] == "citations_delta") {
        block["citations"].push_back(piece["citation"]);
      } else {
        arguments += piece["partial_json"].get<std::string>();
      }
    } else if (event.type == "content_block_stop") {
      CHECK(data["index"] == open);
      open = -1;
      if (!arguments.empty()) message["content"].back()["input"] = json::parse(arguments);
    } else if (event.type == "message_delta") {
      for (const auto& [key, value] : data["delta"].items()) message[key] = value;
      for (const auto& [key, value] : data["usage"].items()) message["usage"][key] = value;
    }
  }
  CHECK(open == -1);
  return message;
}

TEST_CASE("a stream of text is what the schema of messages says, event by event") {
  Written one;
  one.events.emplace_back(begun(0, BlockKind::kText));
  one.events.emplace_back(delta(0, "Hi \"you\"\n"));
  one.events.emplace_back(Ping{});
  one.events.emplace_back(BlockEnded{0});
  one.events.emplace_back(Finished{});
  one.events.emplace_back(used(12, 5, 3, 0));
  CHECK(
      one.stream() ==
      "event: message_start\n"
      R"(data: {"type":"message_start","message":{"id":"msg_07","type":"message",)"
      R"("role":"assistant","model":"asked-for","content":[],"stop_reason":null,)"
      R"("stop_sequence":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":0,)"
      R"("cache_read_input_tokens":0,"output_tokens":0}}})"
      "\n\nevent: content_block_start\n"
      R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})"
      "\n\nevent: content_block_delta\n"
      R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta",)"
      R"("text":"Hi \"you\"\n"}})"
      "\n\nevent: ping\ndata: {\"type\": \"ping\"}"
      "\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}"
      "\n\nevent: message_delta\n"
      R"(data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},)"
      R"("usage":{"input_tokens":7,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,)"
      R"("output_tokens":3}})"
      "\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

void add_everything(Written& one) {
  Events& events = one.events;
  events.emplace_back(begun(0, BlockKind::kReasoning));
  events.emplace_back(delta(0, "first"));
  Delta section = delta(0, "second");
  section.new_section = true;
  events.emplace_back(section);
  events.emplace_back(delta(0, "hw.e..", Delta::Kind::kSignature));
  events.emplace_back(delta(0, "c2ln", Delta::Kind::kSignature));
  events.emplace_back(BlockEnded{0});
  events.emplace_back(begun(1, BlockKind::kText));
  events.emplace_back(BlockEnded{1});
  events.emplace_back(begun(2, BlockKind::kText));
  events.emplace_back(delta(2, "see "));
  Delta citation = delta(2, "", Delta::Kind::kAnnotation);
  citation.raw = R"({"type":"url_citation","url_citation":{"url":"https://u","title":"T"}})";
  events.emplace_back(citation);
  events.emplace_back(BlockEnded{2});
  events.emplace_back(call(3, "call_1", "Bash"));
  events.emplace_back(call(4, "call.2", "Bash"));
  events.emplace_back(delta(4, "{\"b\""));
  events.emplace_back(delta(3, "{\"a\":"));
  events.emplace_back(delta(4, ":2}"));
  events.emplace_back(BlockEnded{4});
  events.emplace_back(delta(3, "1}"));
  events.emplace_back(BlockEnded{3});
  BlockBegun custom = call(5, "call_3", "patch");
  custom.tool_kind = ToolKind::kCustom;
  events.emplace_back(custom);
  events.emplace_back(delta(5, "*** \"x\"\n"));
  events.emplace_back(delta(5, "\\end"));
  events.emplace_back(BlockEnded{5});
  events.emplace_back(call(6, "call_4", "none"));
  events.emplace_back(BlockEnded{6});
  events.emplace_back(Finished{StopReason::kToolUse, {}});
  events.emplace_back(used(12, 5, 30, 9));
}

TEST_CASE("a stream and a whole answer of the same events are the same message") {
  Written one;
  add_everything(one);
  const json answer = one.answer();
  CHECK(accumulated(one.stream()) == answer);
  REQUIRE(answer["content"].size() == 6);
  CHECK(answer["content"][0]["thinking"] == "first\n\nsecond");
  CHECK(answer["content"][0]["signature"] == "hw.e..c2ln");
  CHECK(answer["content"][1]["citations"][0]["url"] == "https://u");
  CHECK(answer["content"][2]["input"] == json({{"a", 1}}));
  CHECK(answer["content"][2]["id"] == "call_1");
  CHECK(answer["content"][3]["input"] == json({{"b", 2}}));
  CHECK(answer["content"][3]["id"].get<std::string>().starts_with("hw64_"));
  CHECK(answer["content"][4]["input"]["input"] == "*** \"x\"\n\\end");
  CHECK(answer["content"][5]["input"] == json::object());
  CHECK(answer["stop_reason"] == "tool_use");
  CHECK(answer["usage"]["output_tokens_details"]["thinking_tokens"] == 9);
  CHECK(one.fidelity.lossy().empty());
}

TEST_CASE("a call's arguments are passed on as they come, unless another call is open before it") {
  Written one;
  const auto writer = make_stream_writer(Dialect::kAnthropicMessages, one.reply, one.fidelity);
  std::string out;
  writer->write(Started{}, out);
  writer->write(call(0, "a", "t"), out);
  out.clear();
  writer->write(delta(0, "{"), out);
  CHECK(out.find("partial_json\":\"{\"") != std::string::npos);
  out.clear();
  writer->write(call(1, "b", "t"), out);
  writer->write(delta(1, "{}"), out);
  CHECK(out.empty());
  writer->write(delta(0, "}"), out);
  writer->write(BlockEnded{0}, out);
  CHECK(out.find("\"index\":1,\"content_block\"") != std::string::npos);
  CHECK(out.find("partial_json\":\"{}\"") != std::string::npos);
}

TEST_CASE("the reason of the end is the client's word for it") {
  const auto reason = [](StopReason stop, bool calls) {
    Written one;
    if (calls) {
      one.events.emplace_back(call(0, "a", "t"));
      one.events.emplace_back(BlockEnded{0});
    }
    Finished finished{stop, {}};
    if (stop == StopReason::kStop) finished.stop_sequence = Text::plain("</b>");
    one.events.emplace_back(finished);
    const json answer = one.answer();
    CHECK(accumulated(one.stream()) == answer);
    if (stop == StopReason::kStop) CHECK(answer["stop_sequence"] == "</b>");
    return answer["stop_reason"].get<std::string>();
  };
  CHECK(reason(StopReason::kEnd, false) == "end_turn");
  CHECK(reason(StopReason::kEnd, true) == "tool_use");
  CHECK(reason(StopReason::kToolUse, true) == "tool_use");
  CHECK(reason(StopReason::kToolUse, false) == "end_turn");
  CHECK(reason(StopReason::kLength, true) == "max_tokens");
  CHECK(reason(StopReason::kStop, false) == "stop_sequence");
  CHECK(reason(StopReason::kRefusal, false) == "refusal");
  CHECK(reason(StopReason::kPause, false) == "pause_turn");
}

TEST_CASE("usage that nobody told is estimated, told or not it has all its numbers") {
  Written one;
  one.events.emplace_back(begun(0, BlockKind::kText));
  one.events.emplace_back(delta(0, "12345"));
  one.events.emplace_back(BlockEnded{0});
  one.events.emplace_back(Finished{});
  const json usage = one.answer()["usage"];
  CHECK(usage["input_tokens"] == 7);
  CHECK(usage["output_tokens"] == 2);
  CHECK(usage["cache_read_input_tokens"] == 0);
  CHECK(usage["cache_creation_input_tokens"] == 0);
}

TEST_CASE(
    "what messages cannot show is marked: foreign blocks, logprobs, citations without a URL") {
  Written one;
  BlockBegun foreign = begun(0, BlockKind::kForeign);
  foreign.type = "image_generation_call";
  one.events.emplace_back(foreign);
  one.events.emplace_back(delta(0, "x"));
  one.events.emplace_back(BlockEnded{0});
  one.events.emplace_back(begun(1, BlockKind::kRefusal));
  one.events.emplace_back(delta(1, "no"));
  Delta file = delta(1, "", Delta::Kind::kAnnotation);
  file.raw = R"({"type":"file_citation","file_id":"f"})";
  one.events.emplace_back(file);
  one.events.emplace_back(delta(1, "", Delta::Kind::kLogprobs));
  one.events.emplace_back(BlockEnded{1});
  one.events.emplace_back(Finished{StopReason::kRefusal, {}});
  const json answer = one.answer();
  REQUIRE(answer["content"].size() == 1);
  CHECK(answer["content"][0]["text"] == "no");
  CHECK(one.fidelity.lossy() ==
        std::vector<std::string>{"image_generation_call", "messages[].annotations", "logprobs"});
}

TEST_CASE("a failure is an error event and nothing follows, whoever it comes from") {
  Written one;
  const auto writer = make_stream_writer(Dialect::kAnthropicMessages, one.reply, one.fidelity);
  std::string out;
  writer->write(Started{}, out);
  out.clear();
  Failed failed;
  failed.words.type = "server_error";
  failed.words.message = "mock: broken";
  writer->write(failed, out);
  CHECK(writer->failed());
  CHECK(out ==
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\","
        "\"message\":\"mock: broken\"},\"request_id\":\"req_07\"}\n\n");
  const auto other = make_stream_writer(Dialect::kAnthropicMessages, one.reply, one.fidelity);
  out.clear();
  other->fail(Error(ErrorCode::kUpstreamUnfinished, "unfinished"), out);
  CHECK(out.starts_with("event: error\n"));
  CHECK(other->failed());
  one.events.emplace_back(failed);
  CHECK(one.answer()["error"]["message"] == "mock: broken");
}

TEST_CASE("a silent stream is kept alive by pings, also before it has begun") {
  Written one;
  const auto writer = make_stream_writer(Dialect::kAnthropicMessages, one.reply, one.fidelity);
  std::string out;
  writer->heartbeat(out);
  CHECK(out.starts_with("event: ping\n"));
}

TEST_CASE("a cut name of a tool is the client's own again") {
  Request request;
  const std::string name(100, 'n');
  Tool& tool = request.tools.emplace_back();
  tool.name = Text::plain(name);
  Written one;
  one.reply.tools = ToolNames(request);
  const std::string flat = flat_name(Text(), tool.name);
  one.events.emplace_back(call(0, "a", flat));
  one.events.emplace_back(BlockEnded{0});
  CHECK(one.answer()["content"][0]["name"] == name);
}

}  // namespace
}  // namespace hw::translate
