// What wire costs on the data path: one scan a request, one feed a read, one scan an answer.
#include <benchmark/benchmark.h>

#include <string>

#include "wire/answer_facts.h"
#include "wire/request_facts.h"
#include "wire/stream_observer.h"

namespace hw::wire {
namespace {

constexpr std::string_view kChunk =
    R"(data: {"id":"chatcmpl-9xYz","object":"chat.completion.chunk","created":1735000000,)"
    R"("model":"mock-1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":)"
    R"({"content":" token17"},"logprobs":null,"finish_reason":null}]})"
    "\n\n";
constexpr std::string_view kMessagesDelta =
    "event: content_block_delta\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta",)"
    R"("text":" token17"}})"
    "\n\n";
constexpr std::string_view kResponsesDelta =
    "event: response.output_text.delta\n"
    R"(data: {"type":"response.output_text.delta","item_id":"msg_6fd1a04cd0a84b33a2e4",)"
    R"("output_index":0,)"
    R"("content_index":0,"delta":" token17","logprobs":[],"sequence_number":17})"
    "\n\n";

// A chat request of about `size` bytes, with escapes as real text has them.
std::string request_of(size_t size) {
  std::string body =
      R"({"model":"gpt-4o-mini","temperature":0.7,"max_tokens":256,"stream":true,"tools":[)"
      R"({"type":"function","function":{"name":"get_weather","parameters":{"type":"object",)"
      R"("properties":{"city":{"type":"string"}},"required":["city"]}}}],"messages":[)"
      R"({"role":"system","content":"You are a helpful assistant."})";
  while (body.size() + 100 < size) {
    body += R"(,{"role":"user","content":")";
    for (int i = 0; i < 5 && body.size() + 60 < size; ++i) {
      body +=
          R"(Here is a paragraph with \"quotes\", a newline\nand code: if (a < b) { return x; } )";
      body += "\xe4\xb8\xad\xe6\x96\x87 and more words of the quick brown fox and the lazy dog. ";
    }
    body += "\"}";
  }
  return body + R"(],"user":"u-123"})";
}

void scan_request_of(benchmark::State& state) {
  const std::string body = request_of(static_cast<size_t>(state.range(0)));
  RequestFacts facts;
  for (auto _ : state) {
    benchmark::DoNotOptimize(scan_request(Dialect::kOpenaiChat, body, facts));
    RequestEdits edits(facts);
    edits.set_model("llama-3.1-70b-instruct");
    benchmark::DoNotOptimize(edits.ask_for_usage(Dialect::kOpenaiChat));
    benchmark::DoNotOptimize(edits.splice().segments(body));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(scan_request_of)->Arg(2 << 10)->Arg(64 << 10)->Arg(1 << 20);

void observe(benchmark::State& state, Dialect dialect, std::string_view event) {
  StreamObserver observer(dialect);
  for (auto _ : state) benchmark::DoNotOptimize(observer.feed(event));
}
BENCHMARK_CAPTURE(observe, chat_chunk, Dialect::kOpenaiChat, kChunk);
BENCHMARK_CAPTURE(observe, messages_delta, Dialect::kAnthropicMessages, kMessagesDelta);
BENCHMARK_CAPTURE(observe, responses_delta, Dialect::kOpenaiResponses, kResponsesDelta);

void observe_split_chunk(benchmark::State& state) {
  StreamObserver observer(Dialect::kOpenaiChat);
  for (auto _ : state) {
    benchmark::DoNotOptimize(observer.feed(kChunk.substr(0, 100)));
    benchmark::DoNotOptimize(observer.feed(kChunk.substr(100)));
  }
}
BENCHMARK(observe_split_chunk);

void scan_answer_1k(benchmark::State& state) {
  const std::string body =
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m",)"
      R"("choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":")" +
      std::string(700, 'x') +
      R"(","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":)"
      R"({"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"prompt_tokens_details":)"
      R"({"cached_tokens":0}},"service_tier":"default","system_fingerprint":"fp_mock"})";
  for (auto _ : state) benchmark::DoNotOptimize(scan_answer(Dialect::kOpenaiChat, body));
}
BENCHMARK(scan_answer_1k);

}  // namespace
}  // namespace hw::wire
