// What holding whole events costs beside reading them.
#include <benchmark/benchmark.h>

#include <string_view>

#include "edge/event_gate.h"

namespace hw::edge {
namespace {

constexpr std::string_view kChunk =
    R"(data: {"id":"chatcmpl-9xYz","object":"chat.completion.chunk","created":1735000000,)"
    R"("model":"mock-1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":)"
    R"({"content":" token17"},"logprobs":null,"finish_reason":null}]})"
    "\n\n";

void gate_chunk(benchmark::State& state) {
  wire::StreamObserver observer(Dialect::kOpenaiChat);
  EventGate gate(Hide::kUsageChunks);
  std::string scratch;
  for (auto _ : state) {
    const auto events = observer.feed(kChunk);
    benchmark::DoNotOptimize(gate.feed(kChunk, *events, scratch));
  }
}
BENCHMARK(gate_chunk);

}  // namespace
}  // namespace hw::edge
