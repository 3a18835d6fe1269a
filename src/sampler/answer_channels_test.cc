// Scenarios of what single events mean: channels, counts, reasoning that is hidden or said twice,
// and what only looks like a token. Each dialect has its own.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "runs/metric.h"
#include "sampler/answer_recorder.h"
#include "sampler/scripted_stream.h"

namespace hw::sampler {
namespace {

using runs::Metric;
using runs::Record;
using runs::RequestOutcome;
using runs::TokenChannel;

// One stream of JSON events, one a read at 1, 2, 3 ...; a stream ends in good order unless it says
// otherwise. `channels` are those of the tokens that are expected, by their first letters.
struct Meaning {
  std::string name;
  Dialect dialect = Dialect::kOpenaiChat;
  std::vector<std::string> events;
  std::string channels;
  std::optional<Nanos> first_visible = {};  // ttfo; the request is sent at 0
  std::optional<int64_t> n_out = {};
  std::string mark = {};
  RequestOutcome outcome = RequestOutcome::kOk;
};

std::string delta(std::string_view members) {
  return concat(R"({"choices":[{"index":0,"delta":{)", members, "}}]}");
}
std::string chat_end() {
  return R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})";
}
std::string chat_usage(std::string_view members) {
  return concat(R"({"choices":[],"usage":{"prompt_tokens":7,)", members, "}}");
}

std::vector<Meaning> chat_meanings() {
  const std::string a = delta(R"("content":"a")"), think = delta(R"("reasoning_content":"hm")");
  return {
      {"a role alone", {}, {delta(R"("role":"assistant")"), a, chat_end()}, "c", 2},
      {"content null", {}, {delta(R"("content":null)"), a, chat_end()}, "c", 2},
      {"content empty", {}, {delta(R"("content":"")"), a, chat_end()}, "c", 2},
      {"reasoning_content", {}, {think, think, a, chat_end()}, "rrc", 3},
      {"reasoning", {}, {delta(R"("reasoning":"hm")"), a, chat_end()}, "rc", 2},
      {"reasoning under two names counts once",
       {},
       {delta(R"("reasoning":"hm","reasoning_content":"hm")"), a, chat_end()},
       "rc",
       2,
       2},
      {"reasoning_details with text",
       {},
       {delta(R"("reasoning_details":[{"type":"reasoning.text","text":"hm"}])"), a, chat_end()},
       "rc",
       2},
      {"encrypted reasoning is no token",
       {},
       {delta(R"("reasoning_details":[{"type":"reasoning.encrypted","data":"x"}])"), a, chat_end()},
       "c",
       2},
      {"reasoning only", {}, {think, think, chat_end()}, "rr"},
      {"reasoning and content in one event: the visible one",
       {},
       {delta(R"("reasoning_content":"hm","content":"a")"), chat_end()},
       "c",
       1},
      {"arguments of a tool",
       {},
       {delta(R"("tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}])"),
        delta(R"("tool_calls":[{"index":0,"function":{"arguments":"{}"}}])"), chat_end()},
       "tt",
       1},
      {"a refusal", {}, {delta(R"("refusal":"no")"), chat_end()}, "f", 1},
      {"log probabilities alone",
       {},
       {R"({"choices":[{"index":0,"delta":{},"logprobs":{"content":[]}}]})", a, chat_end()},
       "c",
       2},
      {"the last token carries the reason",
       {},
       {a, R"({"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"length"}]})"},
       "cc",
       1},
      {"two choices",
       {},
       {a, R"({"choices":[{"index":1,"delta":{"content":"b"}}]})", chat_end(),
        R"({"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]})"},
       "cc",
       1},
      {"usage wins over the count of events",
       {},
       {a, a, chat_end(), chat_usage(R"("completion_tokens":9)")},
       "cc",
       1,
       9},
      {"usage in every chunk",
       {},
       {R"({"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":7,)"
        R"("completion_tokens":1}})",
        R"({"choices":[{"index":0,"delta":{"content":"b"}}],"usage":{"prompt_tokens":7,)"
        R"("completion_tokens":2}})",
        chat_end()},
       "cc",
       1,
       2},
      {"without usage token events are counted", {}, {a, a, a, chat_end()}, "ccc", 1, 3},
      {"usage of 0 beside tokens is odd",
       {},
       {a, chat_end(), chat_usage(R"("completion_tokens":0)")},
       "c",
       1,
       1,
       "usage_odd"},
      {"more reasoning than output is odd",
       {},
       {think, a, chat_end(),
        chat_usage(R"("completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":5})")},
       "rc",
       2,
       3,
       "usage_odd"},
      {"reasoning that is only counted is hidden",
       {},
       {a, chat_end(),
        chat_usage(
            R"("completion_tokens":30,"completion_tokens_details":{"reasoning_tokens":25})")},
       "c",
       1,
       30,
       "reasoning_hidden"},
      {"content_filter",
       {},
       {a, R"({"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]})"},
       "c",
       1},
      {"JSON of another shape is a frame",
       {},
       {R"({"hello":1})", R"([1])", "x", a, chat_end()},
       "c",
       4},
      {"an error beside a reason is a failure",
       {},
       {a, R"({"error":{"message":"m","type":"t"},"choices":[{"index":0,"delta":{},)"
           R"("finish_reason":"error"}]})"},
       "c",
       1,
       {},
       "",
       RequestOutcome::kStreamError},
      {"an error as a string is a failure",
       {},
       {a, R"({"error":"out of memory"})"},
       "c",
       1,
       {},
       "",
       RequestOutcome::kStreamError},
  };
}

std::vector<Meaning> other_meanings() {
  constexpr Dialect kMessages = Dialect::kAnthropicMessages;
  constexpr Dialect kResponses = Dialect::kOpenaiResponses;
  const auto block = [](std::string_view members) {
    return concat(R"({"type":"content_block_delta","index":0,"delta":{)", members, "}}");
  };
  const std::string stop = R"({"type":"message_stop"})";
  const std::string text = block(R"("type":"text_delta","text":"a")");
  const std::string out = R"({"type":"response.output_text.delta","delta":"a"})";
  const std::string done = R"({"type":"response.completed","response":{"status":"completed"}})";
  return {
      {"thinking",
       kMessages,
       {block(R"("type":"thinking_delta","thinking":"hm")"), text, stop},
       "rc",
       2},
      {"a signature is no token",
       kMessages,
       {block(R"("type":"signature_delta","signature":"x")"), text, stop},
       "c",
       2},
      {"a citation is no token",
       kMessages,
       {block(R"("type":"citations_delta","citation":{"type":"x"})"), text, stop},
       "c",
       2},
      {"input of a tool",
       kMessages,
       {R"({"type":"content_block_start","index":0,)"
        R"("content_block":{"type":"tool_use","name":"f","input":{}}})",
        block(R"("type":"input_json_delta","partial_json":"{}")"), stop},
       "t",
       2},
      {"a ping is no token", kMessages, {R"({"type":"ping"})", text, stop}, "c", 2},
      {"output tokens of message_delta",
       kMessages,
       {text,
        R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},)"
        R"("usage":{"output_tokens":5}})",
        stop},
       "c",
       1,
       5},
      {"a reasoning text",
       kResponses,
       {R"({"type":"response.reasoning_text.delta","delta":"hm"})", out, done},
       "rc",
       2},
      {"a summary of reasoning",
       kResponses,
       {R"({"type":"response.reasoning_summary_text.delta","delta":"hm"})", out, done},
       "rc",
       2},
      {"arguments of a function",
       kResponses,
       {R"({"type":"response.function_call_arguments.delta","delta":"{}"})", done},
       "t",
       1},
      {"a refusal in a response",
       kResponses,
       {R"({"type":"response.refusal.delta","delta":"no"})", done},
       "f",
       1},
      {"an item's end repeats its text and is no token",
       kResponses,
       {out, R"({"type":"response.output_text.done","text":"a"})", done},
       "c",
       1},
      {"in progress",
       kResponses,
       {R"({"type":"response.in_progress","response":{}})", out, done},
       "c",
       2},
      {"incomplete is an end",
       kResponses,
       {out, R"({"type":"response.incomplete","response":{"status":"incomplete"}})"},
       "c",
       1},
      {"failed is a failure",
       kResponses,
       {out, R"({"type":"response.failed","response":{"status":"failed",)"
             R"("error":{"code":"server_error","message":"m"}}})"},
       "c",
       1,
       {},
       "",
       RequestOutcome::kStreamError},
  };
}

std::string letters_of(const Record& record) {
  std::string out;
  for (const runs::TokenEvent& token : record.tokens) {
    const std::string_view name = runs::channel_name(token.channel);
    out += token.channel == TokenChannel::kRefusal ? 'f' : name.front();
  }
  return out;
}

std::string type_of(const std::string& json) {
  const size_t at = json.find(R"("type":")") + 8;
  return json.substr(at, json.find('"', at) - at);
}

void check(const Meaning& meaning) {
  CAPTURE(meaning.name);
  Record record;
  record.t_tx0 = 0;
  http::ResponseHead scratch;
  AnswerRecorder recorder(meaning.dialect, Delivery::kStreamed, record, scratch);
  recorder.take("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", 0);
  Nanos at = 0;
  for (const std::string& event : meaning.events) {
    const bool named = meaning.dialect != Dialect::kOpenaiChat;
    recorder.take(
        concat(named ? concat("event: ", type_of(event), "\n") : "", "data: ", event, "\n\n"),
        ++at);
  }
  if (meaning.dialect == Dialect::kOpenaiChat) recorder.take("data: [DONE]\n\n", ++at);
  recorder.finish(AnswerEnd::kClosed, "total", ++at);
  CHECK(runs::outcome_name(record.outcome) == runs::outcome_name(meaning.outcome));
  CHECK(letters_of(record) == meaning.channels);
  if (meaning.first_visible)
    CHECK(runs::metric_ns(Metric::kTtfo, record) == double(*meaning.first_visible));
  if (meaning.n_out) CHECK(record.n_out == meaning.n_out);
  if (!meaning.mark.empty()) CHECK(record.has_mark(meaning.mark));
}

TEST_CASE("every event is the token, of the channel, that the dialect says, or none") {
  for (const Meaning& meaning : chat_meanings()) check(meaning);
  for (const Meaning& meaning : other_meanings()) check(meaning);
}

TEST_CASE("hidden reasoning has no first token and no time per token") {
  Record record;
  record.t_tx0 = 0;
  http::ResponseHead scratch;
  AnswerRecorder recorder(Dialect::kOpenaiChat, Delivery::kStreamed, record, scratch);
  recorder.take(concat("HTTP/1.1 200 OK\r\n\r\ndata: ", delta(R"("content":"a")"), "\n\n"), 5);
  recorder.take(concat("data: ", delta(R"("content":"b")"), "\n\n"), 6);
  recorder.take(concat("data: ", chat_end(), "\n\ndata: ",
                       chat_usage(R"("completion_tokens":9,"completion_tokens_details":{)"
                                  R"("reasoning_tokens":7})"),
                       "\n\ndata: [DONE]\n\n"),
                7);
  recorder.finish(AnswerEnd::kClosed, "total", 8);
  CHECK(record.outcome == RequestOutcome::kOk);
  CHECK_FALSE(runs::metric_ns(Metric::kTtft, record).has_value());
  CHECK_FALSE(runs::metric_ns(Metric::kTpot, record).has_value());
  CHECK(runs::metric_ns(Metric::kTtfo, record) == 5.0);
}

TEST_CASE("an engine's own times are joined from body and headers") {
  Record record;
  http::ResponseHead scratch;
  AnswerRecorder recorder(Dialect::kOpenaiChat, Delivery::kStreamed, record, scratch);
  recorder.take(concat("HTTP/1.1 200 OK\r\nx-inference-time: 40\r\nx-queue-time: 12\r\n\r\ndata: ",
                       delta(R"("content":"a")"), "\n\ndata: ", chat_end(), "\n\ndata: [DONE]\n\n"),
                5);
  recorder.finish(AnswerEnd::kClosed, "total", 8);
  CHECK(record.engine.queue_ns == 12 * kMillisecond);
}

TEST_CASE("tokens that share a read are told apart from those that came alone") {
  Record record;
  http::ResponseHead scratch;
  AnswerRecorder recorder(Dialect::kOpenaiChat, Delivery::kStreamed, record, scratch);
  const std::string token = concat("data: ", delta(R"("content":"a")"), "\n\n");
  recorder.take("HTTP/1.1 200 OK\r\n\r\n" + token, 1);
  recorder.take(token + token, 2);
  recorder.take(token + "data: " + chat_end() + "\n\ndata: [DONE]\n\n", 3);
  recorder.finish(AnswerEnd::kClosed, "total", 4);
  REQUIRE(record.tokens.size() == 4);
  CHECK(record.tokens[0].events_in_read == 1);
  CHECK(record.tokens[1].events_in_read == 2);
  CHECK(record.tokens[2].events_in_read == 2);
  CHECK(record.tokens[3].events_in_read == 1);
}

}  // namespace
}  // namespace hw::sampler
