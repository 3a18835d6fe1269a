#include "wire/engine_times.h"

#include <doctest/doctest.h>

#include "json/scan.h"

namespace hw::wire {
namespace {

EngineTimes read(std::string_view text) {
  EngineTimes times;
  json::Document document;
  REQUIRE(document.open(text).has_value());
  document.root().each([&](std::string_view key, const json::Value& value) {
    read_engine_member(key, value, times);
  });
  return times;
}

}  // namespace

TEST_CASE("our own timings are milliseconds under their own names") {
  const EngineTimes times =
      read(R"({"timings":{"queue_ms":1.5,"prefill_ms":2,"kv_transfer_ms":0.25,"decode_ms":40,)"
           R"("first_token_ms":3.5,"cached_tokens":16,"source":"headway"}})");
  CHECK(times.source == "headway");
  CHECK(times.queue_ns == 1'500'000);
  CHECK(times.prefill_ns == 2'000'000);
  CHECK(times.kv_transfer_ns == 250'000);
  CHECK(times.decode_ns == 40'000'000);
  CHECK(times.first_token_ns == 3'500'000);
  CHECK(times.cached_tokens == 16);
}

TEST_CASE("vLLM's first token is its queue and its prefill together") {
  const EngineTimes times = read(
      R"({"metrics":{"time_to_first_token_ms":40,"queue_time_ms":2,"generation_time_ms":100}})");
  CHECK(times.source == "vllm");
  CHECK(times.first_token_ns == 42'000'000);
  CHECK(times.decode_ns == 100'000'000);
}

TEST_CASE("SGLang's absolute times enter as differences only") {
  const EngineTimes times = read(
      R"({"meta_info":{"queue_time":0.5,"request_received_ts":100.0,"forward_entry_time":100.5,)"
      R"("prefill_finished_time":101.25,"request_finished_ts":103.25}})");
  CHECK(times.source == "sglang");
  CHECK(times.queue_ns == 500'000'000);
  CHECK(times.prefill_ns == 750'000'000);
  CHECK(times.first_token_ns == 1'250'000'000);
  CHECK(times.decode_ns == 2'000'000'000);
}

TEST_CASE("llama.cpp tells no queue") {
  const EngineTimes times =
      read(R"({"timings":{"prompt_ms":30.5,"predicted_ms":600,"cache_n":7,"prompt_n":3}})");
  CHECK(times.source == "llama.cpp");
  CHECK(times.queue_ns == -1);
  CHECK(times.prefill_ns == 30'500'000);
  CHECK(times.cached_tokens == 7);
}

TEST_CASE("nonsense is not a duration, and a stranger's object is no engine") {
  CHECK_FALSE(read(R"({"timings":{"prompt_ms":-1,"predicted_ms":1e300,"cache_n":"7"}})").told());
  CHECK_FALSE(read(R"({"timings":null,"metrics":[],"meta_info":{"x":1},"sglext":3})").told());
  CHECK_FALSE(read(R"({"meta_info":{"forward_entry_time":5,"prefill_finished_time":4}})").told());
}

TEST_CASE("TGI's headers count only where they are TGI's") {
  EngineTimes times;
  CHECK(read_engine_header("X-Queue-Time", " 12 ", times));
  CHECK_FALSE(times.told());
  CHECK_FALSE(merge_engine_times(times, {}).told());
  CHECK(read_engine_header("x-inference-time", "100", times));
  CHECK(merge_engine_times(times, {}).queue_ns == 12'000'000);
  CHECK_FALSE(read_engine_header("x-queue-time", "soon", times));
  CHECK_FALSE(read_engine_header("content-type", "12", times));
  EngineTimes body;
  body.source = "vllm";
  CHECK(merge_engine_times(times, body).source == "vllm");
}

}  // namespace hw::wire
