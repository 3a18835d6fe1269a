#include "engine/engine.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "base/random.h"
#include "engine/fake_backend.h"

namespace hw::engine {
namespace {

// Waits for an answer on the test's thread.
struct Waiter final : Sink {
  void on_update(const Update& update) override {
    const std::lock_guard lock(mutex);
    text += update.text;
    ++updates;
    if (update.ending) ending = update.ending;
    changed.notify_all();
  }
  Ending wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return ending.has_value(); });
    return *ending;
  }
  void wait_for_first() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return updates > 0; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
  int updates = 0;
  std::optional<Ending> ending;
};

// Lets the backend's steps through one by one, or all.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_ || permits_ > 0; });
    if (!open_) --permits_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return arrived_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int permits_ = 0;
  int arrived_ = 0;
};

Request request_of(int output_tokens) {
  Request request;
  request.prompt = FakeTokenizer().encode("prompt");
  request.output_tokens_max = output_tokens;
  return request;
}

struct Bench {
  explicit Bench(const Limits& limits = fake_limits()) {
    auto fake = std::make_unique<FakeBackend>(limits);
    fake->script = [this](const StepItem& item) {
      gate.pass();
      return static_cast<Token>('a' + item.output.size() % 26);
    };
    engine = std::make_unique<Engine>(limits, std::move(fake), tokenizer, clock, metrics);
  }
  std::shared_ptr<Waiter> ask(int output_tokens, RequestNumber* number = nullptr) {
    auto waiter = std::make_shared<Waiter>();
    auto result = engine->submit(request_of(output_tokens), waiter);
    REQUIRE(result.has_value());
    if (number != nullptr) *number = *result;
    return waiter;
  }

  Registry registry;
  EngineMetrics metrics{registry, "m"};
  Gate gate;
  FakeTokenizer tokenizer;
  SystemClock clock;
  std::unique_ptr<Engine> engine;
};

TEST_CASE("a request from another thread is answered") {
  Bench bench;
  bench.gate.open();
  auto waiter = bench.ask(4);
  CHECK(waiter->wait().reason == FinishReason::kLength);
  CHECK(waiter->text == "abcd");
}

TEST_CASE("above max_concurrent_requests a request is refused at once, and taken again after") {
  Limits limits = fake_limits();
  limits.scheduling.max_concurrent_requests = 2;
  Bench bench(limits);
  auto first = bench.ask(2);
  auto second = bench.ask(2);
  auto refused = std::make_shared<Waiter>();
  auto result = bench.engine->submit(request_of(2), refused);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::kRateLimited);
  CHECK(bench.metrics.refused.value() == 1);
  bench.gate.open();
  first->wait();
  auto again = bench.ask(2);  // whoever heard of an end finds room
  again->wait();
  second->wait();
  CHECK(refused->updates == 0);
}

TEST_CASE("a request that can never be computed is refused before it is queued") {
  Bench bench;
  Request request = request_of(1);
  request.prompt.assign(600, 1);
  auto result = bench.engine->submit(std::move(request), std::make_shared<Waiter>());
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::kBadRequest);
}

TEST_CASE("an abort from another thread ends a running request after its step") {
  Bench bench;
  RequestNumber number = 0;
  auto waiter = bench.ask(200, &number);
  bench.gate.wait_for_arrival();
  bench.engine->abort(number);
  bench.gate.open();
  CHECK(waiter->wait().reason == FinishReason::kAborted);
}

TEST_CASE("stop ends every request, and later ones are refused") {
  Bench bench;
  std::vector<std::shared_ptr<Waiter>> waiters;
  for (int i = 0; i < 8; ++i) waiters.push_back(bench.ask(250));
  bench.gate.wait_for_arrival();
  auto stopped = std::async(std::launch::async, [&bench] { bench.engine->stop(); });
  bench.gate.open();
  stopped.get();
  for (auto& waiter : waiters) {
    const FinishReason reason = waiter->wait().reason;
    CHECK((reason == FinishReason::kAborted || reason == FinishReason::kLength));
  }
  auto result = bench.engine->submit(request_of(1), std::make_shared<Waiter>());
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::kDraining);
}

TEST_CASE("requests and aborts from several threads: every one ends and nothing is left") {
  Limits limits = fake_limits();
  limits.scheduling.max_concurrent_requests = 64;
  Bench bench(limits);
  bench.gate.open();
  const auto caller = [&bench](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 50; ++i) {
      auto waiter = std::make_shared<Waiter>();
      auto number =
          bench.engine->submit(request_of(1 + static_cast<int>(random.below(20))), waiter);
      if (!number) continue;
      if (random.below(2) == 0) bench.engine->abort(*number);
      waiter->wait();
    }
  };
  std::vector<std::future<void>> callers;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    callers.push_back(std::async(std::launch::async, caller, seed));
  }
  for (auto& one : callers) one.get();
  const Snapshot snapshot = bench.engine->snapshot();
  CHECK(snapshot.load.running == 0);
  CHECK(snapshot.load.waiting == 0);
  CHECK(snapshot.load.blocks_used == 0);
  int64_t ended = 0;
  for (const Counter& counter : bench.metrics.finished) ended += counter.value();
  CHECK(ended == 200);
}

}  // namespace
}  // namespace hw::engine
