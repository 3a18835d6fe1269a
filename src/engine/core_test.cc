#include "engine/core.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/fake_backend.h"

namespace hw::engine {
namespace {

struct Heard final : Sink {
  void on_update(const Update& update) override {
    CHECK_FALSE(ending.has_value());
    text += update.text;
    CHECK(update.output_tokens >= output_tokens);
    output_tokens = update.output_tokens;
    ending = update.ending;
    ++updates;
  }
  std::string text;
  int output_tokens = 0;
  int updates = 0;
  std::optional<Ending> ending;
};

struct Bench {
  explicit Bench(Limits l = fake_limits())
      : limits(l), core(limits, tokenizer, metrics), backend(limits) {
    backend.clock = &clock;
  }
  std::shared_ptr<Heard> add(int output_tokens, std::vector<std::string> stop = {}) {
    Request request;
    request.prompt = tokenizer.encode("prompt");
    request.output_tokens_max = output_tokens;
    request.stop = std::move(stop);
    auto heard = std::make_shared<Heard>();
    core.add(++last, std::move(request), heard, clock.monotonic());
    return heard;
  }
  bool step() {
    const StepPlan plan = core.plan(clock.monotonic());
    if (!plan.empty()) {
      const StepResult result = backend.execute(plan);  // moves the clock
      core.complete(result, clock.monotonic());
    }
    deliver();
    return !plan.empty();
  }
  void deliver() {
    for (const Delivery& delivery : core.take_deliveries()) {
      delivery.sink->on_update(delivery.update);
    }
  }
  void run() {
    for (int i = 0; step(); ++i) REQUIRE(i < 10'000);
    CHECK(core.load().cells_used == 0);
    CHECK(backend.cells_held() == 0);
  }

  Limits limits;
  Registry registry;
  EngineMetrics metrics{registry, "m"};
  FakeTokenizer tokenizer;
  FakeClock clock;
  Core core;
  FakeBackend backend;
  RequestNumber last = 0;
};

TEST_CASE("the sink hears the text as it grows, and the ending with the last of it") {
  Bench bench;
  auto heard = bench.add(5);
  bench.run();
  CHECK(heard->text == "abcde");
  CHECK(heard->updates == 5);
  REQUIRE(heard->ending.has_value());
  CHECK(heard->ending->reason == FinishReason::kLength);
  CHECK(heard->ending->record.output_tokens == 5);
}

TEST_CASE("a stop string over several tokens ends the sequence with the token that completes it") {
  Bench bench;
  auto heard = bench.add(20, {"def"});
  bench.run();
  CHECK(heard->text == "abc");
  CHECK(heard->ending->reason == FinishReason::kStop);
  CHECK(heard->ending->record.output_tokens == 6);  // not one more was computed
}

TEST_CASE("the token that completes a stop string may also be the last allowed: stop") {
  Bench bench;
  auto heard = bench.add(6, {"def"});
  bench.run();
  CHECK(heard->text == "abc");
  CHECK(heard->ending->reason == FinishReason::kStop);
}

TEST_CASE("what was held back for a stop string comes with the ending") {
  Bench bench;
  auto heard = bench.add(4, {"cdX"});
  bench.run();
  CHECK(heard->text == "abcd");
  CHECK(heard->ending->reason == FinishReason::kLength);
}

TEST_CASE("the end token adds no text") {
  Bench bench;
  bench.backend.script = [](const StepItem& item) {
    return item.output.size() == 2 ? kFakeEnd : Token{'x'};
  };
  auto heard = bench.add(10);
  bench.run();
  CHECK(heard->text == "xx");
  CHECK(heard->ending->reason == FinishReason::kStop);
  CHECK(heard->output_tokens == 3);
}

TEST_CASE("an aborted request hears its ending, others go on") {
  Bench bench;
  auto gone = bench.add(50);
  auto stays = bench.add(8);
  bench.step();
  bench.core.abort(1, bench.clock.monotonic());
  bench.deliver();
  REQUIRE(gone->ending.has_value());
  CHECK(gone->ending->reason == FinishReason::kAborted);
  bench.run();
  CHECK(stays->text == "abcdefgh");
}

TEST_CASE("an ending comes for each when all are aborted, waiting ones too") {
  Bench bench;
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 6; ++i) all.push_back(bench.add(50));
  bench.step();
  bench.core.abort_all(bench.clock.monotonic());
  bench.deliver();
  CHECK(std::all_of(all.begin(), all.end(), [](const auto& h) { return h->ending.has_value(); }));
  bench.run();
  CHECK(bench.core.live() == 0);
}

TEST_CASE("the metrics count tokens, endings and times") {
  Bench bench;
  bench.add(5);
  bench.add(3, {"b"});
  bench.run();
  const EngineMetrics& metrics = bench.metrics;
  CHECK(metrics.prompt_tokens.value() == 12);
  CHECK(metrics.generated_tokens.value() == 7);
  CHECK(metrics.finished[static_cast<size_t>(FinishReason::kStop)].value() == 1);
  CHECK(metrics.finished[static_cast<size_t>(FinishReason::kLength)].value() == 1);
  CHECK(metrics.first_token.count() == 2);
  CHECK(metrics.token_gap.count() == 5);
  CHECK(metrics.request.count() == 2);
  CHECK(metrics.request.sum() > 0);
  CHECK(metrics.queue.count() == 2);
  std::string text;
  bench.registry.collect(text);
  CHECK(text.find("vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} 7\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace hw::engine
