// What becomes of requests when what computes is lost, when blocks leak, and what is written down.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>

#include "base/log.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/fake_backend.h"

namespace hw::engine {
namespace {

struct Waiter final : Sink {
  void on_update(const Update& update) override {
    const std::lock_guard lock(mutex);
    text += update.text;
    if (update.ending) ending = update.ending;
    changed.notify_all();
  }
  FinishReason wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return ending.has_value(); });
    return ending->reason;
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
  std::optional<Ending> ending;
};

// Time goes on when it is told to, read by several threads.
class ToldClock final : public Clock {
 public:
  Nanos monotonic() const override { return now_; }
  Nanos wall() const override { return now_; }
  void advance(Nanos by) { now_ += by; }

 private:
  std::atomic<Nanos> now_{kSecond};
};

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A backend some of whose steps fail, or hang until they are interrupted.
class FragileBackend final : public Backend {
 public:
  explicit FragileBackend(const Limits& limits) : sound_(limits) {}

  StepResult execute(const StepPlan& plan) override {
    if (!plan.items.empty()) {
      ++steps;
      if (steps == hangs_at) {
        std::unique_lock lock(mutex_);
        hanging.set_value();
        changed_.wait(lock, [this] { return interrupted_; });
        return {StepOutcome::kInterrupted, {}, {}};
      }
      if (steps >= fails_from && steps < fails_from + fails)
        return {StepOutcome::kFailed, "dead", {}};
    }
    return sound_.execute(plan);
  }
  void interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }
  Nanos predict(const StepPlan&) override { return kMillisecond; }
  Status restart() override {
    {
      const std::lock_guard lock(mutex_);
      interrupted_ = false;
    }
    return sound_.restart();
  }
  int restarts() const { return sound_.restarts; }

  int fails_from = 0, fails = 0, hangs_at = 0;
  int steps = 0;
  std::promise<void> hanging;

 private:
  FakeBackend sound_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

struct Bench {
  explicit Bench(WorkerLoss policy) {
    limits.on_worker_loss = policy;
    auto made = std::make_unique<FragileBackend>(limits);
    backend = made.get();
    held = std::move(made);
    set_log_level(LogLevel::kError);
  }
  ~Bench() { set_log_level(LogLevel::kInfo); }
  void start(const Clock& with, EngineLog* log = nullptr) {
    engine = std::make_unique<Engine>(limits, std::move(held), tokenizer, with, metrics, log);
  }
  std::shared_ptr<Waiter> ask(int output_tokens, const std::string& id = "") {
    Request request;
    request.prompt = tokenizer.encode("prompt");
    request.output_tokens_max = output_tokens;
    request.id = id;
    auto waiter = std::make_shared<Waiter>();
    REQUIRE(engine->submit(std::move(request), waiter).has_value());
    return waiter;
  }

  Limits limits = fake_limits();
  Registry registry;
  EngineMetrics metrics{registry, "m"};
  FakeTokenizer tokenizer;
  SystemClock clock;
  FragileBackend* backend = nullptr;
  std::unique_ptr<Backend> held;
  std::unique_ptr<Engine> engine;
};

}  // namespace

TEST_CASE("a step that fails is computed again by a new worker, and the answer is whole") {
  Bench bench(WorkerLoss::kRecompute);
  bench.backend->fails_from = 3, bench.backend->fails = 2;
  bench.start(bench.clock);
  auto waiter = bench.ask(6);
  CHECK(waiter->wait() == FinishReason::kLength);
  CHECK(waiter->text == "abcdef");
  CHECK(bench.backend->restarts() == 2);
  CHECK(bench.metrics.worker_restarts.value() == 2);
  CHECK(waiter->ending->record.preemptions == 2);
}

TEST_CASE("whoever makes every step fail ends with an error, and the next one is answered") {
  Bench bench(WorkerLoss::kRecompute);
  bench.backend->fails_from = 1, bench.backend->fails = 3;
  bench.start(bench.clock);
  CHECK(bench.ask(6)->wait() == FinishReason::kError);
  auto next = bench.ask(3);
  CHECK(next->wait() == FinishReason::kLength);
  CHECK(next->text == "abc");
}

TEST_CASE("with on_worker_loss error a failed step ends its requests, a dead worker is replaced") {
  Bench bench(WorkerLoss::kError);
  bench.backend->fails_from = 1, bench.backend->fails = 3;
  bench.start(bench.clock);
  for (int i = 0; i < 3; ++i) CHECK(bench.ask(6)->wait() == FinishReason::kError);
  CHECK(bench.ask(3)->wait() == FinishReason::kLength);
  CHECK(bench.backend->restarts() == 1);
}

TEST_CASE("a step that hangs is noticed from outside, given up, and its requests end") {
  for (const WorkerLoss policy : {WorkerLoss::kError, WorkerLoss::kRecompute}) {
    ToldClock clock;  // outlives the engine
    Bench bench(policy);
    bench.backend->hangs_at = 2;
    std::future<void> hanging = bench.backend->hanging.get_future();
    bench.start(clock);
    auto waiter = bench.ask(4);
    hanging.wait();
    bench.engine->supervise();
    CHECK(bench.metrics.live.value() == 1);
    clock.advance(3 * kSecond);  // the floor of a bound is two
    bench.engine->supervise();
    CHECK(bench.metrics.live.value() == 0);
    CHECK(bench.metrics.alarms[static_cast<size_t>(watchdog::Signature::kNoStep)].value() == 1);
    clock.advance(3 * kSecond);
    bench.engine->supervise();  // gives it up
    const bool again = policy == WorkerLoss::kRecompute;
    CHECK(waiter->wait() == (again ? FinishReason::kLength : FinishReason::kError));
    auto next = bench.ask(2);
    CHECK(next->wait() == FinishReason::kLength);
    CHECK(bench.backend->restarts() == 1);
    bench.engine->supervise();
    CHECK(bench.metrics.live.value() == 1);
  }
}

TEST_CASE("blocks that an end forgot are noticed, freed and counted") {
  ToldClock clock;  // outlives the engine
  Bench bench(WorkerLoss::kError);
  bench.start(clock);
  bench.engine->suffer({.leak_share = 1});
  CHECK(bench.ask(40)->wait() == FinishReason::kLength);
  bench.engine->suffer({});
  const auto used = [&] { return bench.engine->snapshot().load.blocks_used; };
  // The watchdog looks in each half second in which there are steps; twice it must be there.
  for (int i = 0; i < 10 && bench.metrics.reclaimed_blocks.value() == 0; ++i) {
    clock.advance(kSecond);
    bench.ask(2)->wait();
  }
  CHECK(bench.metrics.reclaimed_blocks.value() > 0);
  bench.ask(1)->wait();
  CHECK(used() == 0);
}

TEST_CASE("blocks of nobody are freed where the cache is fragmented on purpose") {
  ToldClock clock;  // outlives the engine
  Bench bench(WorkerLoss::kError);
  bench.start(clock);
  bench.engine->suffer({.lost_blocks_share = 0.5});
  for (int i = 0; i < 10 && bench.metrics.reclaimed_blocks.value() == 0; ++i) {
    clock.advance(kSecond);
    bench.ask(2)->wait();
  }
  const int64_t usable = bench.limits.scheduling.kv_blocks - 1;
  CHECK(bench.metrics.reclaimed_blocks.value() == usable / 2);
}

TEST_CASE("a request is ended by its id, and the prefix cache is forgotten between requests") {
  Bench bench(WorkerLoss::kError);
  bench.backend->hangs_at = 2;
  std::future<void> hanging = bench.backend->hanging.get_future();
  bench.start(bench.clock);
  auto waiter = bench.ask(200, "req_1-1");
  hanging.wait();
  std::promise<int> ended;
  bench.engine->abort_id("req_1-1", [&](int count) { ended.set_value(count); });
  std::promise<int> unknown;
  bench.engine->abort_id("req_2-1", [&](int count) { unknown.set_value(count); });
  bench.backend->interrupt();
  CHECK(ended.get_future().get() <= 1);  // the interrupt may have ended it before
  CHECK(unknown.get_future().get() == 0);
  CHECK(waiter->wait() == FinishReason::kAborted);
  std::promise<bool> forgotten;
  bench.engine->reset_prefix_cache([&](bool done) { forgotten.set_value(done); });
  CHECK(forgotten.get_future().get());
}

TEST_CASE("the log has a line for each request and each step, with times and reasons") {
  const TempFolder folder;
  const std::string requests = folder.file("requests.jsonl");
  const std::string steps = folder.file("steps.jsonl");
  EngineLog log;
  REQUIRE(log.open(requests, steps).has_value());
  {
    Bench bench(WorkerLoss::kError);
    bench.start(bench.clock, &log);
    CHECK(bench.ask(3, "req_\"x\n")->wait() == FinishReason::kLength);
  }
  const std::string request = content_of(requests);
  for (const std::string_view part :
       {R"("event":"request","id":"req_\"x?")", R"("enqueue_time":"20)", R"("first_step_time":"20)",
        R"("first_token_time":"20)", R"("last_token_time":"20)", R"("finish_reason":"length")",
        R"("prompt_tokens":6,"output_tokens":3)", R"("waits":[)"}) {
    CHECK_MESSAGE(request.find(part) != std::string::npos, part);
  }
  const std::string step = content_of(steps);
  CHECK(std::count(step.begin(), step.end(), '\n') == 3);
  CHECK(step.find(R"("sequences":1,"tokens":6,"prefill_tokens":6)") != std::string::npos);
  CHECK(step.find(R"("predicted_ms":1.000,"real_ms":)") != std::string::npos);
  EngineLog broken;
  CHECK_FALSE(broken.open("/nonexistent/x", "").has_value());
}

}  // namespace hw::engine
