// Micro benchmarks of the scanner against the figures it was designed for: 0.4 us for `model` and
// `stream` of a 2 KB request with the model replaced, 24 us at 200 KB, 0.13 us for a chunk.
#include <benchmark/benchmark.h>

#include <string>

#include "json/check.h"
#include "json/scan.h"
#include "json/splice.h"

namespace hw::json {
namespace {

// A chat request of about `bytes` bytes: tools, then messages with escapes and non-ASCII text.
std::string request_body(size_t bytes) {
  std::string body =
      R"({"model":"gpt-4o-mini","temperature":0.7,"max_tokens":256,"stream":true,"tools":[{"type":)"
      R"("function","function":{"name":"get_weather","parameters":{"type":"object","properties":)"
      R"({"city":{"type":"string"}},"required":["city"]}}}],"messages":[{"role":"system",)"
      R"("content":"You are a helpful assistant."})";
  const std::string_view paragraph =
      R"(Here is a paragraph with \"quotes\", a newline\nand a tab\t, some code: if (a < b) {)"
      R"( return x[i]; }\n\n中文字符 and emoji \ud83d\ude00. The quick brown fox jumps over it. )";
  while (body.size() < bytes) {
    body += R"(,{"role":"user","content":")";
    for (int i = 0; i < 5 && body.size() < bytes; ++i) body += paragraph;
    body += "\"}";
  }
  return body + R"(],"user":"u-123"})";
}

constexpr std::string_view kChunk =
    R"({"id":"chatcmpl-9xYz","object":"chat.completion.chunk","created":1735000000,)"
    R"("model":"mock-1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":)"
    R"({"content":" token17"},"logprobs":null,"finish_reason":null}]})";

void bench_request_splice(benchmark::State& state) {
  const std::string body = request_body(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    Document document;
    if (!document.open(body)) state.SkipWithError("open");
    Range model;
    bool stream = false;
    document.root().each([&](std::string_view key, Value value) {
      if (key == "model") model = value.range();
      if (key == "stream") stream = value.boolean().value_or(false);
    });
    if (!document.finish()) state.SkipWithError("finish");
    Splice splice;
    splice.replace(model, "\"llama\"");
    benchmark::DoNotOptimize(splice.segments(body).count + (stream ? 1 : 0));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(bench_request_splice)->Arg(2048)->Arg(200 * 1024);

void bench_request_walk(benchmark::State& state) {
  const std::string body = request_body(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    Document document;
    if (!document.open(body)) state.SkipWithError("open");
    size_t content_bytes = 0;
    document.root().each([&](std::string_view key, Value value) {
      if (key != "messages") return;
      value.array().each([&](Value message) {
        content_bytes += message.object().find("content").text_or("").size();
      });
    });
    benchmark::DoNotOptimize(content_bytes);
  }
}
BENCHMARK(bench_request_walk)->Arg(2048)->Arg(200 * 1024);

void bench_chunk(benchmark::State& state) {
  for (auto _ : state) {
    Document document;
    if (!document.open(kChunk)) state.SkipWithError("open");
    size_t text_bytes = 0;
    document.root().each([&](std::string_view key, Value value) {
      if (key != "choices") return;
      value.array().each([&](Value choice) {
        choice.object().each([&](std::string_view name, Value part) {
          if (name != "delta") return;
          part.object().each([&](std::string_view field, Value text) {
            if (field == "content") text_bytes += text.text_or("").size();
          });
        });
      });
    });
    if (!document.finish()) state.SkipWithError("finish");
    benchmark::DoNotOptimize(text_bytes);
  }
}
BENCHMARK(bench_chunk);

void bench_check(benchmark::State& state) {
  const std::string body = request_body(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(is_json_object(body));
}
BENCHMARK(bench_check)->Arg(2048)->Arg(200 * 1024);

}  // namespace
}  // namespace hw::json
