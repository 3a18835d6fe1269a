#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "engine/core.h"
#include "engine/fake_backend.h"
#include "faults/faulty_backend.h"
#include "faults/schedule.h"

namespace hw::faults {
namespace {

TEST_CASE("faults are read by name, and what is wrong is said with what is allowed") {
  const Result<Faults> read =
      read_faults(R"({"slow_step_factor":4.5,"hung_step":3,"hung_step_ms":200,"crash_step":9})");
  REQUIRE(read.has_value());
  CHECK(read->slow_step_factor == 4.5);
  CHECK(read->hung_step == 3);
  CHECK(read->hung_step_ms == 200);
  CHECK(read->crash_step == 9);
  CHECK(read_faults("{}").has_value());
  const auto error = [](std::string_view json) { return read_faults(json).error().message; };
  CHECK(error(R"({"slow_step_factor":0.5})") == "slow_step_factor: a number from 1.00 to 1000.00");
  CHECK(error(R"({"hung_step_ms":1.5})") == "hung_step_ms: a whole number from 0 to 600000");
  CHECK(error(R"({"hung_step_ms":"1"})") == "hung_step_ms: a whole number from 0 to 600000");
  CHECK(
      error(R"({"slow":1})").starts_with("unknown fault; there are slow_step_factor, clock_ratio"));
  CHECK_FALSE(read_faults("[1]").has_value());
  CHECK_FALSE(read_faults(R"({"hung_step":1)").has_value());
}

TEST_CASE("each step suffers what is due, and nothing else") {
  Faults faults;
  faults.load_stall_ms = 1;
  faults.hung_step = 2;
  faults.hung_step_ms = 10;
  faults.failed_step = 3;
  faults.failed_steps = 2;
  faults.crash_step = 6;
  faults.late_first_token_ms = 100;
  Schedule schedule(faults);
  std::vector<Nanos> delays;
  std::vector<bool> fails;
  for (int step = 1; step <= 7; ++step) {
    const Harm harm = schedule.next(step == 5);
    delays.push_back(harm.delay_ns / kMillisecond);
    fails.push_back(harm.fails);
  }
  CHECK(delays == std::vector<Nanos>{1, 10, 0, 0, 100, 0, 0});
  CHECK(fails == std::vector<bool>{false, false, true, true, false, true, true});
  schedule.replace({});
  CHECK_FALSE(schedule.next(true).fails);
}

// Counts endings by reason.
class Ear final : public engine::Sink {
 public:
  void on_update(const engine::Update& update) override {
    if (update.ending) reason = update.ending->reason;
  }
  std::optional<engine::FinishReason> reason;
};

// Runs one request of three tokens through a faulty backend.
std::optional<engine::FinishReason> reason_with(const Faults& faults) {
  const engine::Limits limits = engine::fake_limits();
  const engine::FakeTokenizer tokenizer;
  engine::Core core(limits, tokenizer);
  FaultyBackend backend(std::make_unique<engine::FakeBackend>(limits), faults);
  const auto ear = std::make_shared<Ear>();
  engine::Request request;
  request.prompt = {1, 2, 3};
  request.output_tokens_max = 3;
  core.add(1, std::move(request), ear, 0);
  for (Nanos now = 1; core.live() > 0 && now < 100; ++now) {
    const engine::StepPlan& plan = core.plan(now);
    if (plan.empty()) continue;
    core.complete(backend.execute(plan), now);
    for (const engine::Delivery& delivery : core.take_deliveries()) {
      delivery.sink->on_update(delivery.update);
    }
  }
  return ear->reason;
}

TEST_CASE("a crashed worker ends its sequences with an error, without faults they end well") {
  CHECK(reason_with({}) == engine::FinishReason::kLength);
  Faults faults;
  faults.crash_step = 2;
  CHECK(reason_with(faults) == engine::FinishReason::kError);
}

TEST_CASE("an interrupt ends a step that hangs") {
  Faults faults;
  faults.hung_step = 1;
  faults.hung_step_ms = 600'000;
  FaultyBackend backend(std::make_unique<engine::FakeBackend>(engine::fake_limits()), faults);
  engine::StepPlan plan;
  plan.items.emplace_back();
  engine::StepOutcome outcome = engine::StepOutcome::kDone;
  std::thread step([&] { outcome = backend.execute(plan).outcome; });
  backend.interrupt();
  step.join();
  CHECK(outcome == engine::StepOutcome::kInterrupted);
}

}  // namespace
}  // namespace hw::faults
