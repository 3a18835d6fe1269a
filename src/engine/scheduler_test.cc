#include "engine/scheduler.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "base/random.h"
#include "engine/fake_backend.h"

namespace hw::engine {
namespace {

Request request_of(int prompt_tokens, int output_tokens) {
  Request request;
  request.prompt.assign(static_cast<size_t>(prompt_tokens), 'p');
  request.output_tokens_max = output_tokens;
  return request;
}

// A scheduler with a checking backend under a clock that steps move.
struct Bench {
  explicit Bench(Limits l = fake_limits()) : limits(l), scheduler(limits), backend(limits) {
    backend.clock = &clock;
  }

  RequestNumber add(Request request) {
    scheduler.add(++last, std::move(request), clock.monotonic());
    return last;
  }
  void abort(RequestNumber number) {
    scheduler.finish(number, FinishReason::kAborted, clock.monotonic());
  }
  // One step; false where there was nothing to do.
  bool step() {
    plan = scheduler.schedule(clock.monotonic());
    if (plan.empty()) return collect(), false;
    const StepResult result = backend.execute(plan);  // moves the clock
    scheduler.apply(result, clock.monotonic());
    collect();
    return true;
  }
  void run() {
    for (int i = 0; step(); ++i) REQUIRE(i < 100'000);
  }
  void collect() {
    for (Event& event : scheduler.take_events()) {
      if (event.kind == Event::Kind::kFinished) {
        REQUIRE_MESSAGE(!ended.contains(event.sequence), "a sequence ended twice");
        ended[event.sequence] = event;
      }
      if (event.kind == Event::Kind::kToken) tokens[event.sequence].push_back(event.token.token);
      if (event.kind == Event::Kind::kPreempted) ++preempted;
      if (event.kind == Event::Kind::kWaitedLong) warned.insert(event.sequence);
    }
  }
  FinishReason reason(RequestNumber number) {
    REQUIRE(ended.contains(number));
    return ended[number].reason;
  }
  void check_empty() {
    while (step()) {
    }
    CHECK(scheduler.load().cells_used == 0);
    CHECK(scheduler.load().running == 0);
    CHECK(scheduler.load().waiting == 0);
    CHECK(backend.cells_held() == 0);
    CHECK(backend.slots_held() == 0);
  }

  Limits limits;
  FakeClock clock;
  Scheduler scheduler;
  FakeBackend backend;
  StepPlan plan;
  RequestNumber last = 0;
  int preempted = 0;
  std::map<RequestNumber, Event> ended;
  std::map<RequestNumber, std::vector<Token>> tokens;
  std::set<RequestNumber> warned;
};

TEST_CASE("a request gets its tokens and ends by length") {
  Bench bench;
  const RequestNumber a = bench.add(request_of(10, 3));
  bench.run();
  CHECK(bench.tokens[a] == std::vector<Token>{'a', 'b', 'c'});
  CHECK(bench.reason(a) == FinishReason::kLength);
  bench.check_empty();
}

TEST_CASE("the model's end token ends a request unless it is to be ignored") {
  Bench bench;
  bench.backend.script = [](const StepItem& item) {
    return item.output.size() == 2 ? kFakeEnd : Token{'x'};
  };
  const RequestNumber a = bench.add(request_of(4, 8));
  Request stubborn = request_of(4, 8);
  stubborn.ignore_end = true;
  const RequestNumber b = bench.add(std::move(stubborn));
  bench.run();
  CHECK(bench.reason(a) == FinishReason::kStop);
  CHECK(bench.ended[a].record.output_tokens == 3);
  CHECK(bench.reason(b) == FinishReason::kLength);
  CHECK(bench.ended[b].record.output_tokens == 8);
}

TEST_CASE("a long prompt is computed in chunks of the step's budget") {
  Bench bench;
  bench.add(request_of(150, 1));
  std::vector<int> sizes;
  while (bench.step()) {
    if (bench.plan.tokens > 0) sizes.push_back(bench.plan.tokens);
  }
  CHECK(sizes == std::vector<int>{64, 64, 22});
}

TEST_CASE("decodes go first and a prompt takes what is left of the step") {
  Bench bench;
  bench.add(request_of(5, 50));
  bench.add(request_of(5, 50));
  bench.step();
  bench.add(request_of(200, 5));
  bench.step();
  REQUIRE(bench.plan.items.size() == 3);
  CHECK(bench.plan.items[0].tokens.size() == 1);
  CHECK(bench.plan.items[1].tokens.size() == 1);
  CHECK(bench.plan.items[2].tokens.size() == 62);
  CHECK_FALSE(bench.plan.items[2].sample);
  CHECK(bench.plan.tokens == 64);
}

TEST_CASE("long_prefill_token_threshold leaves room for others in the same step") {
  Limits limits = fake_limits();
  limits.prompt_step_tokens_max = 40;
  Bench bench(limits);
  bench.add(request_of(200, 1));
  bench.add(request_of(20, 1));
  bench.step();
  REQUIRE(bench.plan.items.size() == 2);
  CHECK(bench.plan.items[0].tokens.size() == 40);
  CHECK(bench.plan.items[1].tokens.size() == 20);
}

TEST_CASE("without chunked prefill a prompt waits for a step that holds all of it") {
  Limits limits = fake_limits();
  limits.chunked_prefill = false;
  limits.input_len_max = 64;
  Bench bench(limits);
  bench.add(request_of(40, 4));
  bench.add(request_of(40, 4));
  bench.step();
  CHECK(bench.plan.items.size() == 1);
  bench.step();
  REQUIRE(bench.plan.items.size() == 2);
  CHECK(bench.plan.items[1].tokens.size() == 40);
  bench.run();
  CHECK(bench.ended.size() == 2);
}

TEST_CASE("no more sequences run than there are slots, first come first served") {
  Bench bench;
  std::vector<RequestNumber> numbers;
  for (int i = 0; i < 6; ++i) numbers.push_back(bench.add(request_of(4, 2 + i)));
  bench.step();
  CHECK(bench.scheduler.load().running == 4);
  CHECK(bench.scheduler.load().waiting == 2);
  bench.run();
  for (const RequestNumber number : numbers) CHECK(bench.reason(number) == FinishReason::kLength);
  bench.check_empty();
}

TEST_CASE("the queue's head that does not fit holds back those behind it") {
  Limits limits = fake_limits();
  limits.cells = 512;
  Bench bench(limits);
  bench.add(request_of(300, 100));
  const RequestNumber big = bench.add(request_of(300, 1));
  const RequestNumber small = bench.add(request_of(2, 1));
  for (int i = 0; i < 8; ++i) bench.step();
  CHECK(bench.scheduler.load().running == 1);
  CHECK(bench.scheduler.load().waiting == 2);
  bench.run();
  CHECK(bench.ended[big].record.queue_ns <= bench.ended[small].record.queue_ns);
  bench.check_empty();
}

TEST_CASE("a watermark keeps cells free at admission, but not from the only one") {
  Limits limits = fake_limits();
  limits.cells = 512;
  limits.watermark_cells = 400;
  Bench bench(limits);
  bench.add(request_of(200, 5));
  bench.add(request_of(20, 5));
  bench.step();
  bench.step();
  CHECK(bench.scheduler.load().running == 1);
  bench.run();
  CHECK(bench.ended.size() == 2);
}

TEST_CASE("without cells the last admitted is preempted and goes on where it was") {
  Limits limits = fake_limits();
  limits.cells = 256;
  limits.model_len_max = 256;
  Bench bench(limits);
  const RequestNumber a = bench.add(request_of(100, 120));
  const RequestNumber b = bench.add(request_of(100, 120));
  bench.run();
  CHECK(bench.preempted > 0);
  CHECK(bench.ended[a].record.preemptions == 0);
  CHECK(bench.ended[b].record.preemptions > 0);
  CHECK(bench.tokens[a] == bench.tokens[b]);  // the script depends on the place alone
  CHECK(bench.tokens[b].size() == 120);
  bench.check_empty();
}

TEST_CASE("nobody is admitted in a step that preempted") {
  Limits limits = fake_limits();
  limits.cells = 256;
  limits.model_len_max = 256;
  Bench bench(limits);
  bench.add(request_of(100, 120));
  bench.add(request_of(100, 120));
  bench.add(request_of(1, 1));
  for (int before = 0; bench.step(); before = bench.preempted) {
    if (bench.preempted == before) continue;
    for (const StepItem& item : bench.plan.items) CHECK(item.start > 0);
  }
}

TEST_CASE("an abort while waiting ends at once and takes no step") {
  Bench bench;
  for (int i = 0; i < 4; ++i) bench.add(request_of(4, 50));
  const RequestNumber waiting = bench.add(request_of(4, 50));
  bench.step();
  bench.abort(waiting);
  bench.collect();
  CHECK(bench.reason(waiting) == FinishReason::kAborted);
  CHECK_FALSE(bench.ended[waiting].record.queue_ns.has_value());
  CHECK_FALSE(bench.ended[waiting].record.first_token_ns.has_value());
}

TEST_CASE("an abort in mid-prompt, while decoding and while preempted gives back the cells") {
  Bench bench;
  const RequestNumber decoding = bench.add(request_of(4, 50));
  const RequestNumber reading = bench.add(request_of(200, 50));
  bench.step();
  bench.step();
  const int64_t before = bench.scheduler.load().cells_used;
  bench.abort(reading);
  CHECK(bench.scheduler.load().cells_used == before - 200);
  bench.abort(decoding);
  bench.collect();
  CHECK(bench.reason(reading) == FinishReason::kAborted);
  CHECK(bench.reason(decoding) == FinishReason::kAborted);
  CHECK(bench.scheduler.load().cells_used == 0);
  CHECK(bench.step());  // the slots are emptied though nothing else is to do
  bench.check_empty();

  Limits limits = fake_limits();
  limits.cells = 256;
  limits.model_len_max = 256;
  Bench tight(limits);
  tight.add(request_of(100, 120));
  const RequestNumber preempted = tight.add(request_of(100, 120));
  while (tight.preempted == 0) REQUIRE(tight.step());
  tight.abort(preempted);
  tight.collect();
  CHECK(tight.reason(preempted) == FinishReason::kAborted);
  tight.run();
  tight.check_empty();
}

TEST_CASE("an abort while its step is computed takes effect with the result") {
  Bench bench;
  const RequestNumber a = bench.add(request_of(4, 50));
  const RequestNumber b = bench.add(request_of(4, 3));
  const StepPlan plan = bench.scheduler.schedule(bench.clock.monotonic());
  bench.abort(a);
  bench.abort(a);
  CHECK(bench.scheduler.take_events().empty());
  const StepResult result = bench.backend.execute(plan);
  bench.scheduler.apply(result, bench.clock.monotonic());
  bench.collect();
  CHECK(bench.reason(a) == FinishReason::kAborted);
  CHECK(bench.tokens[a].empty());
  bench.run();
  CHECK(bench.reason(b) == FinishReason::kLength);
  bench.check_empty();
}

TEST_CASE("aborting what is over or unknown does nothing") {
  Bench bench;
  const RequestNumber a = bench.add(request_of(4, 1));
  bench.run();
  bench.abort(a);
  bench.abort(999);
  CHECK(bench.scheduler.take_events().empty());
}

TEST_CASE("after its deadline a request is in no further step, waiting or running") {
  Limits limits = fake_limits();
  limits.request_timeout_ns = 20 * kMillisecond;
  Bench bench(limits);
  for (int i = 0; i < 4; ++i) bench.add(request_of(4, 256));
  const RequestNumber waiting = bench.add(request_of(4, 256));
  const Nanos deadline = bench.clock.monotonic() + limits.request_timeout_ns;
  while (bench.clock.monotonic() < deadline) REQUIRE(bench.step());
  for (RequestNumber number = 1; number <= waiting; ++number) {
    CHECK(bench.reason(number) == FinishReason::kTimeout);
  }
  CHECK(bench.ended[1].record.first_token_ns.has_value());
  CHECK_FALSE(bench.ended[waiting].record.queue_ns.has_value());
  bench.check_empty();
}

TEST_CASE("a failed step ends those in it with an error and nobody else") {
  Bench bench;
  for (int i = 0; i < 4; ++i) bench.add(request_of(4, 50));
  const RequestNumber waiting = bench.add(request_of(4, 5));
  bench.backend.outcome = StepOutcome::kFailed;
  bench.step();
  bench.backend.outcome = StepOutcome::kDone;
  bench.run();
  for (RequestNumber number = 1; number < waiting; ++number) {
    CHECK(bench.reason(number) == FinishReason::kError);
  }
  CHECK(bench.reason(waiting) == FinishReason::kLength);
  bench.check_empty();
}

TEST_CASE("the durations are those of the steps and touch each other") {
  Bench bench;
  const RequestNumber a = bench.add(request_of(100, 3));
  bench.clock.advance(5 * kMillisecond);
  bench.run();
  const Record& record = bench.ended[a].record;
  const Nanos step = bench.backend.step_ns, token = bench.backend.token_ns;
  CHECK(record.queue_ns == 5 * kMillisecond);
  CHECK(record.prefill_ns == 2 * step + 100 * token);  // 64 and 36 tokens
  CHECK(record.decode_ns == 2 * (step + token));
  CHECK(record.first_token_ns == *record.queue_ns + *record.prefill_ns);
  CHECK(record.total_ns == *record.first_token_ns + *record.decode_ns);
  CHECK(record.prompt_tokens == 100);
  CHECK(record.output_tokens == 3);
}

TEST_CASE("a wait longer than queue_warn_ns is told once") {
  Limits limits = fake_limits();
  limits.queue_warn_ns = 10 * kMillisecond;
  Bench bench(limits);
  const RequestNumber patient = bench.add(request_of(4, 1));
  bench.clock.advance(11 * kMillisecond);
  bench.run();
  const RequestNumber prompt = bench.add(request_of(4, 1));
  bench.run();
  CHECK(bench.warned == std::set<RequestNumber>{patient});
  CHECK(bench.ended.contains(prompt));
}

TEST_CASE("an idle instance waits batch_wait_ms for company, a busy or full one does not") {
  Limits limits = fake_limits();
  limits.batch_wait_ns = 10 * kMillisecond;
  Bench bench(limits);
  bench.add(request_of(4, 5));
  StepPlan plan = bench.scheduler.schedule(bench.clock.monotonic());
  CHECK(plan.empty());
  REQUIRE(plan.wake.has_value());
  CHECK(*plan.wake == bench.clock.monotonic() + limits.batch_wait_ns);
  bench.clock.advance(limits.batch_wait_ns);
  CHECK(bench.step());
  const RequestNumber late = bench.add(request_of(4, 5));
  CHECK(bench.step());
  CHECK(bench.plan.items.size() == 2);
  bench.run();
  CHECK(bench.ended[late].record.queue_ns == 0);

  Bench full(limits);
  for (int i = 0; i < 4; ++i) full.add(request_of(4, 5));
  CHECK(full.step());
  CHECK(full.plan.items.size() == 4);
}

// Arrivals, aborts, failures and deadlines by a seed, small pools; every plan is checked by the
// backend and the scheduler itself, and in the end nothing may be left.
std::string random_life(uint64_t seed) {
  Random random(seed);
  Limits limits = fake_limits();
  limits.sequences_max = 1 + static_cast<int>(random.below(6));
  limits.cells = 128 + static_cast<int64_t>(random.below(200));
  limits.model_len_max = 128;
  limits.requests_max = 32;
  limits.step_tokens_max = 8 + static_cast<int>(random.below(64));
  limits.prompt_step_tokens_max = 1 + static_cast<int>(random.below(70));
  limits.watermark_cells = static_cast<int64_t>(random.below(40));
  limits.batch_wait_ns = static_cast<Nanos>(random.below(3)) * kMillisecond;
  limits.request_timeout_ns = 100 * kMillisecond;
  Bench bench(limits);
  bench.backend.script = [&random](const StepItem&) {
    return random.below(30) == 0 ? kFakeEnd : static_cast<Token>('a' + random.below(26));
  };
  int added = 0;
  std::string log;
  for (int i = 0; i < 600; ++i) {
    if (random.below(3) == 0 && bench.scheduler.live() < limits.requests_max) {
      const int prompt = 1 + static_cast<int>(random.below(100));
      bench.add(request_of(prompt, 1 + static_cast<int>(random.below(28))));
      ++added;
    }
    if (random.below(10) == 0) bench.abort(1 + random.below(bench.last + 1));
    bench.backend.outcome = random.below(40) == 0 ? StepOutcome::kFailed : StepOutcome::kDone;
    const bool stepped = bench.step();
    if (!stepped) bench.clock.advance(kMillisecond);
    const Load load = bench.scheduler.load();
    // Work conservation: who waits alone is computed, at the latest after batch_wait_ms.
    if (!stepped && load.waiting > 0) CHECK(bench.plan.wake.has_value());
    log += std::to_string(load.cells_used) + " ";
  }
  bench.backend.outcome = StepOutcome::kDone;
  while (bench.scheduler.live() > 0) {
    if (!bench.step()) bench.clock.advance(kMillisecond);
  }
  bench.check_empty();
  CHECK(static_cast<int>(bench.ended.size()) == added);
  for (const auto& [number, event] : bench.ended) {
    log += std::to_string(number) + std::string(finish_reason_name(event.reason)) + " ";
    CHECK(bench.tokens[number].size() == static_cast<size_t>(event.record.output_tokens));
  }
  return log;
}

TEST_CASE("random arrivals, aborts, failures and deadlines leave nothing behind") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    random_life(seed);
  }
}

TEST_CASE("the same seed gives the same life") {
  CHECK(random_life(7) == random_life(7));
  CHECK(random_life(7) != random_life(8));
}

}  // namespace
}  // namespace hw::engine
