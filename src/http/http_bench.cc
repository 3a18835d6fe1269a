// Micro benchmarks of the codecs. Goal: a head of 12 fields in 400 ns.
#include <benchmark/benchmark.h>

#include <string>

#include "http/chunked.h"
#include "http/head.h"
#include "http/sse.h"

namespace hw::http {
namespace {

constexpr std::string_view kRequest =
    "POST /v1/chat/completions HTTP/1.1\r\n"
    "host: 127.0.0.1:8080\r\n"
    "connection: keep-alive\r\n"
    "accept: application/json\r\n"
    "user-agent: OpenAI/JS 6.49.0\r\n"
    "x-stainless-retry-count: 0\r\n"
    "x-stainless-lang: js\r\n"
    "x-stainless-package-version: 6.49.0\r\n"
    "x-stainless-runtime-version: v20.20.2\r\n"
    "authorization: Bearer hw-abcdefghijklmnopqrstuvwxyz0123456789\r\n"
    "content-type: application/json\r\n"
    "accept-encoding: gzip, deflate\r\n"
    "content-length: 1024\r\n\r\n";

constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\n"
    "content-type: text/event-stream; charset=utf-8\r\n"
    "cache-control: no-cache\r\n"
    "x-request-id: req_0123456789abcdef\r\n"
    "date: Mon, 30 Nov 2026 00:00:00 GMT\r\n"
    "transfer-encoding: chunked\r\n\r\n";

constexpr std::string_view kEvent =
    R"(data: {"id":"chatcmpl-9xYz","object":"chat.completion.chunk","created":1735000000,)"
    R"("model":"mock-1","choices":[{"index":0,"delta":{"content":" token17"},"logprobs":null,)"
    R"("finish_reason":null}]})"
    "\n\n";

void bench_request_head(benchmark::State& state) {
  const HeadLimits limits;
  RequestHead head;
  for (auto _ : state) {
    const Result<size_t> size = parse_request_head(kRequest, limits, head);
    if (!size || *size != kRequest.size()) state.SkipWithError("head");
    benchmark::DoNotOptimize(head.content_length);
  }
}
BENCHMARK(bench_request_head);

void bench_response_head(benchmark::State& state) {
  const HeadLimits limits;
  ResponseHead head;
  for (auto _ : state) {
    const Result<size_t> size = parse_response_head(kResponse, limits, "POST", head);
    if (!size || *size != kResponse.size()) state.SkipWithError("head");
    benchmark::DoNotOptimize(head.status);
  }
}
BENCHMARK(bench_response_head);

void bench_chunk(benchmark::State& state) {
  std::string bytes;
  append_chunk(bytes, kEvent);
  ChunkDecoder decoder(ErrorCode::kUpstreamProtocol);
  for (auto _ : state) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const Result<ChunkStep> step = decoder.step(rest);
      if (!step) state.SkipWithError("chunk");
      rest.remove_prefix(step->consumed);
    }
  }
}
BENCHMARK(bench_chunk);

void bench_event(benchmark::State& state) {
  SseScanner scanner;
  SseEvent event;
  for (auto _ : state) {
    std::string_view rest = kEvent;
    const Result<bool> found = scanner.next(rest, event);
    if (!found || !*found) state.SkipWithError("event");
    benchmark::DoNotOptimize(event.data.data());
  }
}
BENCHMARK(bench_event);

// The worst case of a relay: an event in two reads.
void bench_event_in_two_reads(benchmark::State& state) {
  SseScanner scanner;
  SseEvent event;
  for (auto _ : state) {
    std::string_view rest = kEvent.substr(0, 100);
    Result<bool> found = scanner.next(rest, event);
    rest = kEvent.substr(100);
    found = scanner.next(rest, event);
    if (!found || !*found) state.SkipWithError("event");
    benchmark::DoNotOptimize(event.data.data());
  }
}
BENCHMARK(bench_event_in_two_reads);

}  // namespace
}  // namespace hw::http
