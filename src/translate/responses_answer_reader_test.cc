// What a response says, streamed or whole, is found in the events that it becomes.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>

#include "base/text.h"
#include "http/sse.h"
#include "neutral/opaque.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {
namespace {

std::string_view kind_name(BlockKind kind) {
  switch (kind) {
    case BlockKind::kText:
      return "text";
    case BlockKind::kReasoning:
      return "reasoning";
    case BlockKind::kToolCall:
      return "call";
    case BlockKind::kRefusal:
      return "refusal";
    case BlockKind::kForeign:
      return "foreign";
  }
  return "";
}

// A signature's envelope as what it holds.
std::string opened(const Text& envelope) {
  const auto opaque = unseal(envelope);
  return opaque ? concat(opaque->item_id, ":", opaque->content) : "none";
}

std::string told(const Delta& delta) {
  switch (delta.kind) {
    case Delta::Kind::kText:
      return concat(delta.new_section ? "|" : "+", delta.block, " ", delta.text.str());
    case Delta::Kind::kSignature:
      return concat("proof", delta.block, " ", opened(delta.text));
    case Delta::Kind::kAnnotation:
      return concat("note", delta.block, " ", delta.raw);
    case Delta::Kind::kLogprobs:
      return concat("logprobs", delta.block, " ", delta.raw);
  }
  return "";
}

struct Teller {
  std::string operator()(const Started& e) { return concat("start ", e.id.str()); }
  std::string operator()(const BlockBegun& e) {
    return concat("begin", e.block, " ", kind_name(e.kind),
                  e.tool_kind == ToolKind::kCustom ? " custom" : "", e.name.present() ? " " : "",
                  e.name.str(), e.call_id.present() ? " " : "", e.call_id.str(), e.type);
  }
  std::string operator()(const Delta& e) { return told(e); }
  std::string operator()(const BlockEnded& e) { return concat("end", e.block); }
  std::string operator()(const Finished& e) {
    return concat("finish ", static_cast<int>(e.reason));
  }
  std::string operator()(const Used& e) {
    return concat("used ", e.usage.input, " ", e.usage.cached_input, " ", e.usage.output, " ",
                  e.usage.reasoning);
  }
  std::string operator()(const Ping&) { return "ping"; }
  std::string operator()(const Failed& e) {
    return concat("failed ", e.words.code, " ", e.words.message);
  }
};

std::string tell(const Events& events) {
  std::string out;
  for (const Event& event : events) out += concat(std::visit(Teller(), event), "\n");
  return out;
}

std::string read_stream(std::string_view bytes) {
  http::SseScanner scanner;
  http::SseEvent event;
  const auto reader = make_stream_reader(Dialect::kOpenaiResponses);
  std::string out;
  Events events;
  while (scanner.next(bytes, event).value_or(false)) {
    events.clear();
    reader->read(event, events);
    out += tell(events);
  }
  events.clear();
  reader->end(events);
  return out + tell(events);
}

// Events of a stream, one data line each.
std::string stream_of(std::initializer_list<std::string_view> lines) {
  std::string out;
  for (const std::string_view line : lines) out += concat("data: ", line, "\n\n");
  return read_stream(out);
}

std::string read_whole(const std::string& body) {
  Events events;
  const Status read = read_answer(Dialect::kOpenaiResponses, body, events);
  return read ? tell(events) : concat("no answer: ", read.error().message);
}

std::string file(std::string_view name) {
  std::ifstream in(concat("src/wire/testdata/openai-responses.", name), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_CASE("a text comes piece by piece between its block's beginning and end") {
  CHECK(read_stream(file("mock-ok/stream.sse")) ==
        "start resp_99745f02a30d12044bd544eb\nbegin0 text\n+0 Hi\n+0  — \n+0 from\n+0  the\n"
        "+0  mock\n+0  🦀\n+0  한글\n+0  déjà\n+0  vu\n+0 .\nend0\nfinish 0\nused 14 0 12 0\n");
}

TEST_CASE("parallel calls are blocks of their own, and tools are to be called") {
  CHECK(read_stream(file("mock-tool2/stream.sse")) ==
        "start resp_7c6e1b1d5efc5319dd4dab37\n"
        "begin0 call get_weather call_3efa1cb65a0fb20deb9d8b20\n+0 {\"city\":\"\n+0 Oslo\"}\nend0\n"
        "begin1 call get_weather call_e70f4d703770006a5822b5b1\n+1 {\"city\":\"\n+1 Oslo\"}\nend1\n"
        "finish 3\nused 49 0 12 0\n");
}

TEST_CASE("thinking ends with its proof, sealed with the item's id") {
  const std::string told = stream_of({
      R"({"type":"response.created","response":{"id":"resp_1"}})",
      R"({"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1",)"
      R"("type":"reasoning","summary":[]}})",
      R"({"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,)"
      R"("summary_index":0,"part":{"type":"summary_text","text":""}})",
      R"({"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,)"
      R"("summary_index":0,"delta":"one"})",
      R"({"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,)"
      R"("summary_index":1,"delta":"two"})",
      R"({"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":0,)"
      R"("content_index":0,"delta":"raw"})",
      R"({"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1",)"
      R"("type":"reasoning","summary":[],"encrypted_content":"gAAA"}})",
      R"({"type":"response.completed","response":{"id":"resp_1","status":"completed",)"
      R"("output":[]}})",
  });
  CHECK(told ==
        "start resp_1\nbegin0 reasoning\n+0 one\n|0 two\nproof0 rs_1:gAAA\nend0\nfinish 0\n");
}

TEST_CASE("hidden thinking is its proof alone, and without one it is nothing") {
  const std::string told = stream_of({
      R"({"type":"response.created","response":{"id":"resp_1"}})",
      R"({"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1",)"
      R"("type":"reasoning","summary":[],"encrypted_content":"gAAA"}})",
      R"({"type":"response.output_item.done","output_index":1,"item":{"id":"rs_2",)"
      R"("type":"reasoning","summary":[]}})",
  });
  CHECK(told == "start resp_1\nbegin0 reasoning\nproof0 rs_1:gAAA\nend0\nfinish 0\n");
}

TEST_CASE("what a server leaves out of a stream is made up for") {
  const std::string told = stream_of({
      R"({"type":"response.output_text.delta","delta":"no start"})",
      R"({"type":"response.output_item.added","output_index":1,"item":{"id":"fc",)"
      R"("type":"function_call","call_id":"c1","name":"f"}})",
      R"({"type":"response.function_call_arguments.done","output_index":1,"arguments":"{}"})",
      R"({"type":"response.output_item.done","output_index":1,"item":{"type":"function_call",)"
      R"("arguments":"{}"}})",
      R"({"type":"response.output_item.done","output_index":2,"item":{"type":"message",)"
      R"("content":[{"type":"output_text","text":"whole"}]}})",
      R"({"type":"response.output_item.done","output_index":3,)"
      R"("item":{"type":"custom_tool_call","call_id":"c2","name":"g","input":"free"}})",
  });
  CHECK(told ==
        "start \nbegin0 text\n+0 no start\nend0\nbegin1 call f c1\n+1 {}\nend1\n"
        "begin2 text\n+2 whole\nend2\nbegin3 call custom g c2\n+3 free\nend3\nfinish 3\n");
}

TEST_CASE("a stream that tells its output at its end only is read from there") {
  const std::string told = stream_of({
      R"({"type":"response.completed","response":{"id":"r","status":"completed",)"
      R"("output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],)"
      R"("usage":{"input_tokens":1,"output_tokens":2}}})",
  });
  CHECK(told == "start r\nbegin0 text\n+0 a\nend0\nfinish 0\nused 1 0 2 0\n");
}

TEST_CASE("refusals, annotations, log-probabilities and foreign items keep their place") {
  const std::string told = stream_of({
      R"({"type":"response.content_part.added","output_index":0,"content_index":0,)"
      R"("part":{"type":"output_text","text":""}})",
      R"({"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a",)"
      R"("logprobs":[{"token":"a","logprob":-1}]})",
      R"({"type":"response.output_text.annotation.added","output_index":0,"content_index":0,)"
      R"("annotation":{"type":"url_citation"}})",
      R"({"type":"response.content_part.done","output_index":0,"content_index":0,"part":{}})",
      R"({"type":"response.refusal.delta","output_index":0,"content_index":1,"delta":"no"})",
      R"({"type":"response.output_item.done","output_index":1,"item":{"id":"ws",)"
      R"("type":"web_search_call"}})",
      R"({"type":"response.incomplete","response":{"status":"incomplete",)"
      R"("incomplete_details":{"reason":"max_output_tokens"}}})",
      R"({"type":"response.output_text.delta","output_index":9,"delta":"late"})",
  });
  CHECK(told ==
        "start \nbegin0 text\n+0 a\nlogprobs0 [{\"token\":\"a\",\"logprob\":-1}]\n"
        "note0 {\"type\":\"url_citation\"}\nend0\nbegin1 refusal\n+1 no\nend1\n"
        "begin2 foreignweb_search_call\nend2\nfinish 1\n");
}

TEST_CASE("repeated progress is a sign of life") {
  const std::string told = stream_of({
      R"({"type":"response.created","response":{"id":"r"}})",
      R"({"type":"response.in_progress","response":{"id":"r"}})",
      R"({"type":"response.in_progress","response":{"id":"r"}})",
  });
  CHECK(told == "start r\nping\nfinish 0\n");
}

TEST_CASE("a failure is the last event, as an event or as a failed response") {
  CHECK(read_stream(file("error-event/stream.sse"))
            .ends_with("failed rate_limit_exceeded slow down\n"));
  CHECK(read_stream(file("mock-sseerr/stream.sse")).ends_with("failed server_error Overloaded\n"));
  CHECK(read_whole(file("failed/answer.json")) == "start resp_1\nfailed server_error it broke\n");
}

// The events of a stream with neighbouring pieces of one block joined.
std::string joined(const std::string& told) {
  std::string out;
  std::istringstream lines(told);
  for (std::string line; std::getline(lines, line);) {
    const bool more = line.starts_with("+") && out.ends_with("~");
    if (out.ends_with("~")) out.back() = more ? ' ' : '\n';
    if (more) out.pop_back();
    out += more ? line.substr(line.find(' ') + 1) : line;
    out += line.starts_with("+") ? "~" : "\n";
  }
  return out;
}

TEST_CASE("whole answers give the events of their streams") {
  CHECK(read_whole(file("mock-ok/answer.json")) ==
        "start resp_13caa9800349b3d72d5d07c8\nbegin0 text\n+0 Hi — from the mock 🦀 한글 déjà vu.\n"
        "end0\nfinish 0\nused 10 0 12 0\n");
  for (const std::string_view name : {"mock-ok", "mock-think", "mock-tool2"}) {
    const std::string streamed = joined(read_stream(file(concat(name, "/stream.sse"))));
    const std::string whole = joined(read_whole(file(concat(name, "/answer.json"))));
    // Kinds and order: ids and figures differ from run to run.
    const auto shape = [](const std::string& told) {
      std::string out;
      std::istringstream lines(told);
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("+")) out += concat(line, "\n");
        if (!line.starts_with("+")) out += concat(line.substr(0, line.find(' ') + 2), "\n");
      }
      return out;
    };
    CHECK(shape(streamed) == shape(whole));
  }
}

TEST_CASE("an object without output is no answer") {
  CHECK(read_whole("{}").starts_with("no answer: "));
  CHECK(read_whole(R"({"output":[],"status":"completed"})") == "start \nfinish 0\n");
  CHECK(read_whole(R"({"error":"bad"})").ends_with("failed  bad\n"));
}

}  // namespace
}  // namespace hw::translate
