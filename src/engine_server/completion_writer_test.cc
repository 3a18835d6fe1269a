#include "engine_server/completion_writer.h"

#include <doctest/doctest.h>

#include <string>

#include "json/scan.h"
#include "wire/engine_times.h"

namespace hw::engine_server {
namespace {

engine::Ending ending() {
  engine::Ending out;
  out.reason = engine::FinishReason::kLength;
  out.record.prompt_tokens = 12;
  out.record.output_tokens = 3;
  out.record.queue_ns = 1;
  out.record.prefill_ns = 41'234'567;
  out.record.first_token_ns = 41'234'568;
  out.record.decode_ns = 2'000'000'000;
  out.record.preemptions = 1;
  const auto held = static_cast<size_t>(scheduler::Hold::kBlocks);
  out.record.waits.steps[held] = 7;
  out.record.waits.ns[held] = 1;
  return out;
}

const AnswerIdentity kChat = {Dialect::kOpenaiChat, "chatcmpl-1", "m", 1767225600};
const AnswerIdentity kText = {Dialect::kOpenaiCompletions, "cmpl-1", "m", 1767225600};

constexpr std::string_view kTimings =
    R"({"source":"headway","queue_ms":0.000001,"prefill_ms":41.234567,"first_token_ms":41.234568,)"
    R"("decode_ms":2000.000000,"cached_tokens":0,"prompt_n":12,"predicted_n":3,"preemptions":1,)"
    R"("steps_waited":7,"held_by":"blocks"})";

// The same under vLLM's names, whose first token counts from the first step.
constexpr std::string_view kMetrics =
    R"({"time_to_first_token_ms":41.234567,"generation_time_ms":2000.000000,)"
    R"("queue_time_ms":0.000001,"mean_itl_ms":1000.000000,"tokens_per_second":1})";

TEST_CASE("timings are exact to the nanosecond, and null where an end never came") {
  std::string out;
  append_timings(out, ending().record);
  CHECK(out == kTimings);
  out.clear();
  append_timings(out, engine::Record{});
  CHECK(out.find(R"("queue_ms":null,"prefill_ms":null)") != std::string::npos);
}

TEST_CASE("the gateway's reader gets the same nanoseconds back") {
  const std::string body = completion_body(kChat, "x", ending());
  json::Document document;
  REQUIRE(document.open(body).has_value());
  wire::EngineTimes times;
  document.root().each([&](std::string_view key, const json::Value& value) {
    wire::read_engine_member(key, value, times);
  });
  CHECK(times.source == "headway");
  CHECK(times.queue_ns == 1);
  CHECK(times.prefill_ns == 41'234'567);
  CHECK(times.first_token_ns == 41'234'568);
  CHECK(times.decode_ns == 2'000'000'000);
  CHECK(times.cached_tokens == 0);
}

TEST_CASE("Server-Timing leaves out what is not known") {
  CHECK(server_timing(ending().record) ==
        "queue;dur=0.000001, prefill;dur=41.234567, decode;dur=2000.000000, "
        "first-token;dur=41.234568");
  engine::Record waited;
  waited.queue_ns = 5'000'000;
  CHECK(server_timing(waited) == "queue;dur=5.000000");
}

TEST_CASE("a whole chat answer and a whole completion") {
  CHECK(completion_body(kChat, "a\"b", ending()) ==
        R"({"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"m",)"
        R"("choices":[{"index":0,"message":{"role":"assistant","content":"a\"b","refusal":null},)"
        R"("logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":12,)"
        R"("completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":0}},)"
        R"("timings":)" +
            std::string(kTimings) + R"(,"metrics":)" + std::string(kMetrics) + "}");
  const std::string text = completion_body(kText, "t", ending());
  CHECK(text.find(R"("object":"text_completion")") != std::string::npos);
  CHECK(text.find(R"("choices":[{"index":0,"text":"t","logprobs":null)") != std::string::npos);
}

TEST_CASE("a chat stream: role, text, finish with timings, usage, DONE") {
  const ChunkWriter writer(kChat, ChunkWriter::Usage::kLastChunk);
  std::string out;
  writer.append_role(out);
  writer.append_text(out, "Hi\n");
  writer.append_end(out, ending());
  const std::string head =
      R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,)"
      R"("model":"m","choices":[)";
  const std::string none = R"(,"logprobs":null,"finish_reason":null}],"usage":null})"
                           "\n\n";
  CHECK(out == head + R"({"index":0,"delta":{"role":"assistant","content":""})" + none + head +
                   R"({"index":0,"delta":{"content":"Hi\n"})" + none + head +
                   R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],)"
                   R"("usage":null,"timings":)" +
                   std::string(kTimings) + R"(,"metrics":)" + std::string(kMetrics) + "}\n\n" +
                   head +
                   R"(],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,)"
                   R"("prompt_tokens_details":{"cached_tokens":0}}})"
                   "\n\n"
                   "data: [DONE]\n\n");
}

TEST_CASE("a completion stream without usage") {
  const ChunkWriter writer(kText, ChunkWriter::Usage::kNone);
  std::string out;
  writer.append_role(out);
  CHECK(out.empty());
  writer.append_text(out, "x");
  CHECK(out.find(R"("choices":[{"index":0,"text":"x","logprobs":null,"finish_reason":null}]})") !=
        std::string::npos);
  CHECK(out.find("usage") == std::string::npos);
  out.clear();
  writer.append_end(out, ending());
  CHECK(out.find("prompt_tokens") == std::string::npos);
  CHECK(out.find("\"timings\":") != std::string::npos);
  CHECK(out.ends_with("}\n\ndata: [DONE]\n\n"));
}

}  // namespace
}  // namespace hw::engine_server
