// What translation costs on the data path: a coding agent's request of 50 KB, and one streamed
// token, between any two dialects.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/assert.h"
#include "base/text.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"
#include "translate/stream_translator.h"

namespace hw::translate {
namespace {

constexpr Dialect kDialects[] = {Dialect::kOpenaiChat, Dialect::kOpenaiResponses,
                                 Dialect::kAnthropicMessages};

// Prose and code as they stand in JSON, with an escape now and then.
std::string text_of(size_t size) {
  std::string out;
  while (out.size() < size)
    out += R"(Here is a paragraph with \"quotes\" and \n code: if (a < b) { return x; } 中文. )";
  return out;
}

void append_tools(std::string& body) {
  for (int i = 0; i < 12; ++i) {
    body += concat(i == 0 ? "" : ",", R"({"name":"tool_)", i, R"(","description":")", text_of(1500),
                   R"(","input_schema":{"type":"object","properties":{)");
    for (int k = 0; k < 6; ++k)
      body += concat(k == 0 ? "" : ",", R"("p)", k, R"(":{"type":"string","description":")",
                     text_of(80), R"("})");
    body += R"(},"required":["p0"],"additionalProperties":false}})";
  }
}

// The shape of Claude Code's requests, in their size.
std::string messages_request() {
  std::string body =
      concat(R"({"model":"m","max_tokens":32000,"system":[{"type":"text","text":")", text_of(7000),
             R"("}],"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":")",
             text_of(1000), R"("}]},{"role":"system","content":")", text_of(9000), R"("})");
  for (int i = 0; i < 8; ++i) {
    body +=
        concat(R"(,{"role":"assistant","content":[{"type":"text","text":"Looking."},)",
               R"({"type":"tool_use","id":"toolu_0)", i,
               R"(","name":"tool_1","input":{"p0":"a\\b","p1":")", text_of(100),
               R"("}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0)", i,
               R"(","content":")", text_of(600), R"("}]})");
  }
  body += R"(],"tools":[)";
  append_tools(body);
  return body + "]}";
}

std::string translated(const std::string& body, Dialect from, Dialect to) {
  Request request;
  HW_ASSERT(read_request(from, body, request));
  Fidelity fidelity(from, to);
  Target target;
  target.model = "upstream";
  std::string out;
  write_request(to, request, target, fidelity, out);
  HW_ASSERT(fidelity.status());
  return out;
}

std::string request_in(Dialect dialect) {
  const std::string body = messages_request();
  if (dialect == Dialect::kAnthropicMessages) return body;
  return translated(body, Dialect::kAnthropicMessages, dialect);
}

void translate_request(benchmark::State& state) {
  const Dialect from = kDialects[state.range(0)], to = kDialects[state.range(1)];
  const std::string body = request_in(from);
  for (auto _ : state) benchmark::DoNotOptimize(translated(body, from, to));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
  state.SetLabel(concat(dialect_name(from), " -> ", dialect_name(to), ", ", body.size(), " bytes"));
}

// What begins a stream with a text, and one token of it.
struct Stream {
  std::string_view begin, token;
};

Stream stream_of(Dialect dialect) {
  if (dialect == Dialect::kOpenaiChat)
    return {
        "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":"
        "\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
        "data: {\"id\":\"chatcmpl-9xYz\",\"object\":\"chat.completion.chunk\",\"created\":"
        "1735000000,\"model\":\"mock-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
        "\" token17\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"};
  if (dialect == Dialect::kOpenaiResponses)
    return {
        "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,"
        "\"response\":{\"id\":\"r\",\"model\":\"m\"}}\n\n"
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\","
        "\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":"
        "\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n"
        "event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\","
        "\"sequence_number\":2,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,"
        "\"part\":{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[]}}\n\n",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
        "\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\" token17\","
        "\"logprobs\":[],\"sequence_number\":17}\n\n"};
  return {
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","
      "\"model\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
      "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
      "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
      "\"delta\":{\"type\":\"text_delta\",\"text\":\" token17\"}}\n\n"};
}

void translate_token(benchmark::State& state) {
  const Dialect from = kDialects[state.range(0)], to = kDialects[state.range(1)];
  const Stream stream = stream_of(from);
  Reply reply;
  reply.model = "m";
  reply.request_id = "req_0123456789abcdef";
  Fidelity fidelity(from, to);
  constexpr int kTokens = 500;
  std::string out;
  for (auto _ : state) {
    StreamTranslator translator(from, to, reply, fidelity);
    out.clear();
    HW_ASSERT(translator.feed(stream.begin, out));
    for (int i = 0; i < kTokens; ++i) {
      out.clear();
      HW_ASSERT(translator.feed(stream.token, out));
      HW_ASSERT(!out.empty());
    }
  }
  state.SetItemsProcessed(state.iterations() * kTokens);
  state.SetLabel(concat(dialect_name(from), " -> ", dialect_name(to)));
}

void pairs(benchmark::internal::Benchmark* bench) {
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if (from != to) bench->Args({from, to});
    }
  }
}

BENCHMARK(translate_request)->Apply(pairs)->Unit(benchmark::kMicrosecond);
BENCHMARK(translate_token)->Apply(pairs)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hw::translate
