#include <doctest/doctest.h>

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

std::string_view kind_name(BlockKind kind) {
  constexpr std::string_view kNames[] = {"text", "reasoning", "call", "refusal", "foreign"};
  return kNames[static_cast<size_t>(kind)];
}

std::string shown(const wire::Usage& usage) {
  return concat(usage.input, "/", usage.cached_input, "/", usage.cache_creation_input, "/",
                usage.output, "/", usage.reasoning);
}

// An envelope as its kind and content.
std::string shown_signature(const Text& text) {
  const auto opaque = unseal(text);
  REQUIRE(opaque);
  return concat("signature ", static_cast<int>(opaque->kind), " ", opaque->content);
}

std::string shown(const Event& event) {
  if (const auto* started = std::get_if<Started>(&event))
    return concat("started ", started->id.str(), " ", started->model.str(), " ",
                  shown(started->usage));
  if (const auto* begun = std::get_if<BlockBegun>(&event))
    return concat("begun ", begun->block, " ", kind_name(begun->kind), " ", begun->call_id.str(),
                  begun->name.empty() ? "" : " ", begun->name.str(), begun->type);
  if (const auto* delta = std::get_if<Delta>(&event)) {
    if (delta->kind == Delta::Kind::kSignature)
      return concat(delta->block, " ", shown_signature(delta->text));
    return concat(delta->block, " ", delta->text.str(), delta->raw);
  }
  if (const auto* ended = std::get_if<BlockEnded>(&event)) return concat("ended ", ended->block);
  if (const auto* finished = std::get_if<Finished>(&event))
    return concat("finished ", static_cast<int>(finished->reason), " ",
                  finished->stop_sequence.str());
  if (const auto* used = std::get_if<Used>(&event)) return concat("used ", shown(used->usage));
  if (const auto* failed = std::get_if<Failed>(&event))
    return concat("failed ", failed->words.type, ": ", failed->words.message);
  return "ping";
}

std::string shown(const Events& events) {
  std::string out;
  for (const Event& event : events) out += concat(shown(event), "\n");
  return out;
}

// What a stream of these events says; `over`: its end was told to the reader.
std::string read_stream(const std::vector<std::string>& datas, bool over = true) {
  const auto reader = make_stream_reader(Dialect::kAnthropicMessages);
  std::string out;
  Events events;
  for (const std::string& data : datas) {
    http::SseEvent event;
    event.data = data;
    events.clear();
    reader->read(event, events);
    out += shown(events);
  }
  events.clear();
  if (over) reader->end(events);
  return out + shown(events);
}

// Events of a block, from the JSON of what it is and of what it adds.
std::string begins(int index, std::string_view block) {
  return concat(R"({"type":"content_block_start","index":)", index, R"(,"content_block":)", block,
                "}");
}
std::string adds(int index, std::string_view delta) {
  return concat(R"({"type":"content_block_delta","index":)", index, R"(,"delta":)", delta, "}");
}
std::string ends(int index) {
  return concat(R"({"type":"content_block_stop","index":)", index, "}");
}

const std::string kStart =
    R"({"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":3,)"
    R"("cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":1}}})";
const std::string kStop = R"({"type":"message_stop"})";

TEST_CASE("a stream's thinking, text and calls are blocks, the signature told at the end") {
  CHECK(read_stream({
            kStart,
            begins(0, R"({"type":"thinking","thinking":""})"),
            adds(0, R"({"type":"thinking_delta","thinking":"h"})"),
            adds(0, R"({"type":"signature_delta","signature":"c2"})"),
            adds(0, R"({"type":"signature_delta","signature":"ln"})"),
            ends(0),
            R"({"type":"ping"})",
            begins(1, R"({"type":"text","text":""})"),
            adds(1, R"({"type":"citations_delta","citation":{"url":"u"}})"),
            adds(1, R"({"type":"text_delta","text":"\u00e9"})"),
            ends(1),
            begins(2, R"({"type":"tool_use","id":"toolu_1","name":"Bash","input":{}})"),
            adds(2, R"({"type":"input_json_delta","partial_json":""})"),
            adds(2, R"({"type":"input_json_delta","partial_json":"{\"a\""})"),
            adds(2, R"({"type":"input_json_delta","partial_json":":1}"})"),
            ends(2),
            R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},)"
            R"("usage":{"output_tokens":9}})",
            kStop,
        }) ==
        "started msg_1 m 2103/2000/100/1/0\n"
        "begun 0 reasoning \n0 h\n0 signature 0 c2ln\nended 0\nping\n"
        "begun 1 text \n1 {\"url\":\"u\"}\n1 \u00e9\nended 1\n"
        "begun 2 call toolu_1 Bash\n2 {\"a\"\n2 :1}\nended 2\n"
        "finished 3 \nused 2103/2000/100/9/0\n");
}

TEST_CASE("hidden thinking is a block without text, and a server's tool is a foreign block") {
  CHECK(read_stream({
            kStart,
            begins(0, R"({"type":"redacted_thinking","data":"ZGF0YQ"})"),
            ends(0),
            begins(1, R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})"),
            adds(1, R"({"type":"input_json_delta","partial_json":"{}"})"),
            ends(1),
            R"({"type":"message_delta","delta":{"stop_reason":"stop_sequence",)"
            R"("stop_sequence":"</b>"}})",
            kStop,
        }) ==
        "started msg_1 m 2103/2000/100/1/0\n"
        "begun 0 reasoning \n0 signature 1 ZGF0YQ\nended 0\n"
        "begun 1 foreign server_tool_use\nended 1\n"
        "finished 2 </b>\n");
}

TEST_CASE("what a stream leaves open is ended, and what is unknown left out") {
  CHECK(read_stream({
            begins(7, R"({"type":"tool_use","id":"t","name":"n","input":{"a":1}})"),
            adds(3, R"({"text":"nobody's"})"),
            R"({"type":"something_new"})",
            "no json",
            adds(7, R"({"type":"text_delta","text":"x"})"),
            kStop,
            R"({"type":"ping"})",
        }) == "started   0/0/0/0/0\nbegun 0 call t n\n0 {\"a\":1}\nended 0\nfinished 3 \n");
}

TEST_CASE("an error ends a stream, and nothing follows it") {
  CHECK(read_stream(
            {
                kStart,
                R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
                R"({"type":"ping"})",
            },
            false) == "started msg_1 m 2103/2000/100/1/0\nfailed overloaded_error: Overloaded\n");
}

TEST_CASE("a whole answer says what its stream would have said") {
  Events events;
  const std::string body = R"({"id":"msg_1","type":"message","model":"m","content":[
    {"type":"thinking","signature":"c2ln","thinking":"h"},
    {"type":"redacted_thinking","data":"ZGF0YQ"},
    {"type":"text","text":"Hi","citations":[{"url":"u"}]},
    {"type":"tool_use","id":"t","name":"Bash","input":{"a": 1}},
    {"type":"tool_use","id":"u","name":"Bash","input":{}}],
    "stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":12}})";
  REQUIRE(read_answer(Dialect::kAnthropicMessages, body, events));
  CHECK(shown(events) ==
        "started msg_1 m 3/0/0/12/0\n"
        "begun 0 reasoning \n0 h\n0 signature 0 c2ln\nended 0\n"
        "begun 1 reasoning \n1 signature 1 ZGF0YQ\nended 1\n"
        "begun 2 text \n2 Hi\n2 {\"url\":\"u\"}\nended 2\n"
        "begun 3 call t Bash\n3 {\"a\": 1}\nended 3\n"
        "begun 4 call u Bash\nended 4\n"
        "finished 1 \nused 3/0/0/12/0\n");
}

TEST_CASE("an answer without content is none, and says what it is instead") {
  Events events;
  const Status read = read_answer(Dialect::kAnthropicMessages,
                                  R"({"type":"error","error":{"message":"why"}})", events);
  REQUIRE(!read);
  CHECK(read.error().code == ErrorCode::kUpstreamDialect);
  CHECK(read.error().message == "the answer is an error: why");
}

}  // namespace
}  // namespace hw::translate
