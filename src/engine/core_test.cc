#include "engine/core.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
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
    const StepPlan& plan = core.plan(clock.monotonic());
    const bool work = !plan.empty();
    if (work) {
      const StepResult result = backend.execute(plan);  // moves the clock
      core.complete(result, clock.monotonic());
    }
    deliver();
    return work;
  }
  void deliver() {
    for (const Delivery& delivery : core.take_deliveries()) {
      delivery.sink->on_update(delivery.update);
    }
  }
  void run() {
    for (int i = 0; step(); ++i) REQUIRE(i < 10'000);
    CHECK(core.load().blocks_used == 0);
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

// A conversation's next token depends on everything before it.
Token token_of_all(const FakeBackend& backend, const StepItem& item) {
  uint64_t mark = 7;
  for (const Token token : backend.held(item.slot)) mark = mark * 31 + static_cast<uint64_t>(token);
  return static_cast<Token>('a' + mark % 26);
}

// Three rounds of two conversations with one beginning; all answers, and the records.
std::vector<Heard> conversations(bool caching) {
  Limits limits = fake_limits();
  limits.scheduling.enable_prefix_caching = caching;
  Bench bench(limits);
  bench.backend.script = [&](const StepItem& item) { return token_of_all(bench.backend, item); };
  std::string texts[] = {std::string(40, 's') + "one", std::string(40, 's') + "two"};
  std::vector<Heard> all;
  for (int round = 0; round < 3; ++round) {
    for (std::string& text : texts) {
      Request request;
      request.prompt = bench.tokenizer.encode(text);
      request.output_tokens_max = 20;
      auto heard = std::make_shared<Heard>();
      bench.core.add(++bench.last, std::move(request), heard, bench.clock.monotonic());
      bench.step();
      bench.run();
      text += heard->text + " and then?";
      all.push_back(*heard);
    }
  }
  return all;
}

TEST_CASE("with a prefix cache the answers are the same, and cached tokens are told") {
  const std::vector<Heard> with = conversations(true);
  const std::vector<Heard> without = conversations(false);
  REQUIRE(with.size() == without.size());
  for (size_t i = 0; i < with.size(); ++i) {
    CHECK(with[i].text == without[i].text);
    CHECK(without[i].ending->record.cached_tokens == 0);
  }
  CHECK(with[0].ending->record.cached_tokens == 0);
  CHECK(with[1].ending->record.cached_tokens == 32);  // the two whole blocks of the beginning
  CHECK(with[2].ending->record.cached_tokens == 48);  // what it said itself too
  CHECK(with[5].ending->record.cached_tokens == 80);
}

TEST_CASE("what was looked up and found in the prefix cache is counted in tokens") {
  Limits limits = fake_limits();
  limits.scheduling.enable_prefix_caching = true;
  Bench bench(limits);
  for (int i = 0; i < 2; ++i) {
    Request request;
    request.prompt.assign(33, 'p');
    request.output_tokens_max = 1;
    bench.core.add(++bench.last, std::move(request), std::make_shared<Heard>(),
                   bench.clock.monotonic());
    bench.run();
  }
  CHECK(bench.metrics.cache_queries.value() == 66);
  CHECK(bench.metrics.cache_hits.value() == 32);
}

TEST_CASE("a thousand aborts at random moments leave no block behind") {
  Limits limits = fake_limits();
  limits.scheduling.enable_prefix_caching = true;
  limits.scheduling.kv_blocks = 24;
  limits.scheduling.max_model_len = 128;
  Bench bench(limits);
  Random random(5);
  int aborted = 0;
  std::vector<std::shared_ptr<Heard>> all;
  while (aborted < 1000) {
    while (bench.core.live() < 8) {
      Request request;
      request.prompt.assign(1 + random.below(90), static_cast<Token>('a' + random.below(2)));
      request.output_tokens_max = 1 + static_cast<int>(random.below(30));
      all.push_back(std::make_shared<Heard>());
      bench.core.add(++bench.last, std::move(request), all.back(), bench.clock.monotonic());
    }
    for (uint64_t steps = random.below(4); steps > 0; --steps) bench.step();
    const RequestNumber number = bench.last - random.below(8);
    if (all[number - 1]->ending) continue;
    bench.core.abort(number, bench.clock.monotonic());
    bench.deliver();
    ++aborted;
  }
  bench.core.abort_all(bench.clock.monotonic());
  bench.deliver();
  CHECK(bench.core.load().blocks_used == 0);
  bench.run();
  CHECK(bench.backend.slots_held() == 0);
}

TEST_CASE("a long wait is logged with the request's id and what held it") {
  Limits limits = fake_limits();
  limits.scheduling.queue_warn_ns = 2 * kMillisecond;
  limits.scheduling.max_num_seqs = 1;
  Bench bench(limits);
  bench.add(5);
  Request request;
  request.prompt = {1};
  request.output_tokens_max = 1;
  request.id = "req_late";
  auto heard = std::make_shared<Heard>();
  bench.core.add(++bench.last, std::move(request), heard, bench.clock.monotonic());
  bench.run();
  const scheduler::Waits& waits = heard->ending->record.waits;
  CHECK(waits.longest() == scheduler::Hold::kMaxNumSeqs);
  CHECK(waits.steps_waited() == 5);
  const auto held = static_cast<size_t>(scheduler::Hold::kMaxNumSeqs);
  CHECK(bench.metrics.held_steps[held].value() == 5);
}

}  // namespace
}  // namespace hw::engine
