#include "scheduler/scheduler.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "scheduler/trial.h"

namespace hw::scheduler {
namespace {

void check_empty(Trial& trial) {
  CHECK(trial.run());
  CHECK(trial.memory_error == "");
  CHECK(trial.scheduler.live() == 0);
  CHECK(trial.used() == 0);
}

FinishReason reason_of(const Trial& trial, RequestNumber number) {
  REQUIRE(trial.ended.contains(number));
  return trial.ended.at(number).finish_reason;
}

TEST_CASE("a request gets its tokens and ends by length") {
  Trial trial(small_options());
  trial.add(prompt_of(40, 3));
  check_empty(trial);
  CHECK(reason_of(trial, 1) == FinishReason::kLength);
  CHECK(trial.ended.at(1).tokens.size() == 43);
  CHECK(trial.ended.at(1).tokens.back() == 1042);
  CHECK(trial.now == kSecond + 3 * kMillisecond);
}

TEST_CASE("a long prompt is computed in chunks of the step's budget") {
  Trial trial(small_options());
  trial.add(prompt_of(150, 1));
  std::vector<std::string> steps;
  while (trial.step()) steps.push_back(trial.items());
  CHECK(steps == std::vector<std::string>{"1:0+64", "1:64+64", "1:128+22"});
}

TEST_CASE("decodes go first and a prompt takes what is left of the step") {
  Trial trial(small_options());
  trial.add(prompt_of(5, 50));
  trial.add(prompt_of(5, 50));
  trial.step();
  trial.add(prompt_of(200, 5));
  trial.step();
  CHECK(trial.items() == "1:5+1 2:5+1 3:0+62");
  CHECK_FALSE(trial.plan->items[2].sample);
  CHECK(trial.plan->shape.decode_tokens == 2);
  CHECK(trial.plan->shape.prefill_tokens == 62);
  CHECK(trial.plan->shape.longest == 62);
  CHECK(trial.plan->shape.context_tokens == 6 + 6 + 62);
  trial.step();
  CHECK(trial.items() == "1:6+1 2:6+1 3:62+62");
}

TEST_CASE("long_prefill_token_threshold leaves room for others in the same step") {
  Options options = small_options();
  options.long_prefill_token_threshold = 40;
  Trial trial(options);
  trial.add(prompt_of(200, 1));
  trial.add(prompt_of(20, 1));
  trial.step();
  CHECK(trial.items() == "1:0+40 2:0+20");
  trial.step();
  CHECK(trial.items() == "1:40+40");
}

TEST_CASE("without chunked prefill a prompt waits for a step that holds all of it") {
  Options options = small_options();
  options.enable_chunked_prefill = false;
  Trial trial(options);
  trial.add(prompt_of(40, 4));
  trial.add(prompt_of(40, 4));
  trial.step();
  CHECK(trial.items() == "1:0+40");
  CHECK(trial.plan->held == Hold::kBudget);
  trial.step();
  CHECK(trial.items() == "1:40+1 2:0+40");
  check_empty(trial);
}

TEST_CASE("without chunked prefill one that grew beyond the budget is computed in pieces, alone") {
  Options options = small_options();
  options.enable_chunked_prefill = false;
  options.kv_blocks = 9;  // 8 usable: 128 tokens
  Trial trial(options);
  trial.add(prompt_of(60, 60));
  trial.add(prompt_of(60, 60));
  while (trial.preempted.empty()) REQUIRE(trial.step());
  const int length = trial.scheduler.find(2)->length;
  CHECK(length > 60);
  check_empty(trial);
  CHECK(trial.tokens[2] == 60);
}

TEST_CASE("no more sequences run than max_num_seqs, first come first served") {
  Trial trial(small_options());
  for (int i = 0; i < 6; ++i) trial.add(prompt_of(4, 2 + i));
  trial.step();
  CHECK(trial.scheduler.load().running == 4);
  CHECK(trial.scheduler.load().waiting == 2);
  CHECK(trial.plan->held == Hold::kMaxNumSeqs);
  check_empty(trial);
  CHECK(trial.admitted == std::vector<RequestNumber>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("the queue's head that finds no blocks holds back those behind it") {
  Options options = small_options();
  options.kv_blocks = 31;
  Trial trial(options);
  trial.add(prompt_of(300, 100));
  trial.add(prompt_of(300, 1));
  trial.add(prompt_of(2, 1));
  for (int i = 0; i < 8; ++i) trial.step();
  CHECK(trial.scheduler.load().running == 1);
  CHECK(trial.plan->held == Hold::kBlocks);
  check_empty(trial);
  CHECK(trial.admitted == std::vector<RequestNumber>{1, 2, 3});
}

TEST_CASE("reserve_full_prompt admits nobody whose prompt would not fit as a whole") {
  Options options = small_options();
  options.kv_blocks = 21;  // 320 tokens
  for (const bool reserve : {true, false}) {
    options.reserve_full_prompt = reserve;
    Trial trial(options);
    trial.add(prompt_of(50, 30));
    trial.step();
    trial.add(prompt_of(290, 1));
    trial.step();
    CHECK(trial.scheduler.load().running == (reserve ? 1 : 2));
    check_empty(trial);
  }
}

TEST_CASE("a watermark keeps blocks free at admission, but not from the only one") {
  Options options = small_options();
  options.kv_blocks = 33;
  options.watermark = 0.5;  // 16 blocks
  Trial trial(options);
  trial.add(prompt_of(20 * 16, 5));
  trial.step();
  CHECK(trial.scheduler.load().running == 1);
  while (trial.scheduler.running()[0]->pending() > 1) trial.step();
  trial.add(prompt_of(20, 5));
  trial.step();
  CHECK(trial.plan->held == Hold::kBlocks);
  check_empty(trial);
}

TEST_CASE("without blocks the last admitted is preempted and goes on where it was") {
  Options options = small_options();
  options.kv_blocks = 17;
  Trial trial(options);
  trial.script = [](const Sequence& s) { return s.length; };
  trial.add(prompt_of(100, 120));
  trial.add(prompt_of(100, 120));
  check_empty(trial);
  CHECK(trial.ended.at(1).preemptions == 0);
  CHECK(trial.ended.at(2).preemptions > 0);
  CHECK(trial.ended.at(1).tokens == trial.ended.at(2).tokens);
  CHECK(trial.tokens[2] == 120);
}

TEST_CASE("nobody is admitted in a step that preempted, and the preempted one is next") {
  Options options = small_options();
  options.kv_blocks = 17;
  Trial trial(options);
  trial.add(prompt_of(100, 120));
  trial.add(prompt_of(100, 120));
  trial.step();
  while (trial.preempted.empty()) {
    trial.add(prompt_of(1, 1));
    REQUIRE(trial.step());
  }
  CHECK(trial.plan->items.size() == 1);
  CHECK(trial.plan->held == Hold::kPreemption);
  CHECK(trial.scheduler.waiting().front()->number == 2);
  CHECK(trial.scheduler.waiting().front()->state == State::kPreempted);
  check_empty(trial);
}

TEST_CASE("by priority the more urgent goes first, and the least urgent gives way") {
  Options options = small_options();
  options.policy = Policy::kPriority;
  options.max_num_seqs = 2;
  options.kv_blocks = 17;
  Trial trial(options);
  const auto with = [](int priority) {
    Request request = prompt_of(priority == 1 ? 70 : 60, 120);
    request.priority = priority;
    return request;
  };
  trial.add(with(5));
  trial.step();
  trial.now += kMillisecond;
  trial.add(with(1));
  trial.add(with(3));
  trial.step();
  trial.step();
  CHECK(trial.admitted == std::vector<RequestNumber>{1, 2});
  while (trial.preempted.empty()) REQUIRE(trial.step());
  CHECK(trial.preempted == std::vector<RequestNumber>{1});
  // It was in this step already: its token is given back, and the other's stays.
  CHECK(trial.plan->items.size() == 1);
  CHECK(trial.plan->items[0].sequence->number == 2);
  CHECK(trial.plan->shape.tokens == 1);
  check_empty(trial);
}

TEST_CASE("an answer ends by its end token, a stop token, its length, in this order") {
  Trial trial(small_options());
  trial.end_token = 0;
  trial.script = [](const Sequence& s) { return s.output_tokens() == 2 ? 0 : 7; };
  trial.add(prompt_of(4, 8));
  Request stubborn = prompt_of(4, 8);
  stubborn.ignore_end = true;
  trial.add(stubborn);
  Request patient = prompt_of(4, 8);
  patient.output_tokens_min = 4;
  trial.add(patient);
  Request stops = prompt_of(4, 8);
  stops.stop_tokens = {9, 7};
  trial.add(stops);
  check_empty(trial);
  CHECK(reason_of(trial, 1) == FinishReason::kStop);
  CHECK(trial.tokens[1] == 3);
  CHECK(reason_of(trial, 2) == FinishReason::kLength);
  CHECK(trial.tokens[2] == 8);
  CHECK(reason_of(trial, 3) == FinishReason::kLength);  // the end token came too early
  CHECK(reason_of(trial, 4) == FinishReason::kStop);
  CHECK(trial.tokens[4] == 1);
}

TEST_CASE("a sequence ends by length at max_model_len") {
  Trial trial(small_options());
  trial.add(prompt_of(500, 100));
  check_empty(trial);
  CHECK(trial.tokens[1] == 12);
  CHECK(reason_of(trial, 1) == FinishReason::kLength);
}

TEST_CASE("above max_concurrent_requests a request is refused, and taken again after an end") {
  Options options = small_options();
  options.max_concurrent_requests = 2;
  Trial trial(options);
  trial.add(prompt_of(4, 1));
  trial.add(prompt_of(4, 1));
  trial.add(prompt_of(4, 1));
  CHECK(trial.error.find("at most 2 requests") != std::string::npos);
  trial.step();
  trial.add(prompt_of(4, 1));
  CHECK(trial.error == "");
  check_empty(trial);
}

TEST_CASE("an abort gives the blocks back at once: waiting, mid-prompt, decoding, preempted") {
  Options options = small_options();
  options.kv_blocks = 17;
  Trial trial(options);
  const auto abort = [&trial](RequestNumber number) {
    trial.scheduler.finish(number, FinishReason::kAborted, trial.now);
    trial.scheduler.finish(number, FinishReason::kAborted, trial.now);  // is nothing
    trial.collect();
    CHECK(reason_of(trial, number) == FinishReason::kAborted);
  };
  trial.add(prompt_of(20, 200));
  trial.step();
  const int64_t before = trial.used();
  const RequestNumber reading = trial.add(prompt_of(150, 5));
  trial.step();
  CHECK(trial.used() > before);
  abort(reading);
  CHECK(trial.used() == before);
  const RequestNumber second = trial.add(prompt_of(100, 100));
  const RequestNumber waiting = trial.add(prompt_of(200, 5));
  abort(waiting);
  CHECK_FALSE(trial.ended.at(waiting).admitted.has_value());
  while (trial.preempted.empty()) REQUIRE(trial.step());
  CHECK(trial.preempted[0] == second);
  abort(second);
  abort(1);
  CHECK(trial.used() == 0);
  CHECK(trial.scheduler.live() == 0);
}

TEST_CASE("an abort while its step is computed takes effect with the result, without its token") {
  Trial trial(small_options());
  trial.add(prompt_of(4, 50));
  trial.add(prompt_of(4, 3));
  REQUIRE(trial.begin());
  trial.scheduler.finish(1, FinishReason::kAborted, trial.now);
  trial.scheduler.finish(1, FinishReason::kTimeout, trial.now);
  CHECK(trial.scheduler.find(1) != nullptr);
  trial.complete();
  CHECK(reason_of(trial, 1) == FinishReason::kAborted);
  CHECK(trial.tokens[1] == 0);
  check_empty(trial);
  CHECK(reason_of(trial, 2) == FinishReason::kLength);
}

TEST_CASE("after its deadline a request is in no further step, waiting or running") {
  Options options = small_options();
  options.request_timeout_ns = 20 * kMillisecond;
  Trial trial(options);
  for (int i = 0; i < 4; ++i) trial.add(prompt_of(4, 256));
  const RequestNumber waiting = trial.add(prompt_of(4, 256));
  Request patient = prompt_of(4, 30);
  patient.timeout_ns = kSecond;
  const RequestNumber later = trial.add(patient);
  CHECK(trial.scheduler.next_deadline() == trial.now + 20 * kMillisecond);
  check_empty(trial);
  for (RequestNumber number = 1; number <= waiting; ++number) {
    CHECK(reason_of(trial, number) == FinishReason::kTimeout);
  }
  CHECK(trial.tokens[1] == 20);
  CHECK_FALSE(trial.ended.at(waiting).admitted.has_value());
  CHECK(reason_of(trial, later) == FinishReason::kLength);
}

TEST_CASE("a failed step ends those in it with an error and nobody else") {
  Trial trial(small_options());
  for (int i = 0; i < 4; ++i) trial.add(prompt_of(4, 50));
  const RequestNumber waiting = trial.add(prompt_of(4, 5));
  trial.step(StepOutcome::kFailed);
  check_empty(trial);
  for (RequestNumber n = 1; n < waiting; ++n) CHECK(reason_of(trial, n) == FinishReason::kError);
  CHECK(reason_of(trial, waiting) == FinishReason::kLength);
}

TEST_CASE("when the backend is lost all that ran is computed again, and nothing is cached") {
  Options options = small_options();
  options.enable_prefix_caching = true;
  Trial trial(options);
  trial.add(prompt_of(40, 20));
  trial.add(prompt_of(40, 20));
  for (int i = 0; i < 5; ++i) trial.step();
  REQUIRE(trial.begin());
  trial.scheduler.finish(2, FinishReason::kAborted, trial.now);
  trial.scheduler.lose_backend(trial.now);
  trial.collect();
  CHECK(reason_of(trial, 2) == FinishReason::kAborted);
  CHECK(trial.used() == 0);
  CHECK(trial.scheduler.cache().prefixes()->size() == 0);
  trial.step();
  CHECK(trial.items() == "1:0+45");
  check_empty(trial);
  CHECK(trial.tokens[1] == 20);
}

TEST_CASE("an idle instance waits batch_wait_ms for company, a busy or full one does not") {
  Options options = small_options();
  options.batch_wait_ns = 10 * kMillisecond;
  Trial trial(options);
  trial.add(prompt_of(4, 5));
  trial.now += 3 * kMillisecond;
  CHECK_FALSE(trial.step());
  CHECK(trial.plan->held == Hold::kBatchWait);
  REQUIRE(trial.plan->wake.has_value());
  CHECK(*trial.plan->wake == trial.now + 7 * kMillisecond);
  trial.now = *trial.plan->wake;
  CHECK(trial.step());
  trial.add(prompt_of(4, 5));
  CHECK(trial.step());
  CHECK(trial.plan->items.size() == 2);
  check_empty(trial);
  const Waits& waits = trial.ended.at(1).waits;
  CHECK(waits.ns[static_cast<size_t>(Hold::kBatchWait)] == 7 * kMillisecond);
  CHECK(waits.longest() == Hold::kBatchWait);

  Trial full(options);
  for (int i = 0; i < 4; ++i) full.add(prompt_of(4, 5));
  CHECK(full.step());
  CHECK(full.plan->items.size() == 4);
}

TEST_CASE("a batch does not mix lengths that differ by more than the factor") {
  Options options = small_options();
  options.group_by_length_factor = 2.0;
  Trial trial(options);
  trial.add(prompt_of(10, 5));
  trial.add(prompt_of(20, 5));
  trial.add(prompt_of(21, 5));
  trial.step();
  CHECK(trial.items() == "1:0+10 2:0+20");
  CHECK(trial.plan->held == Hold::kGroup);
  trial.step();  // 11 and 21
  CHECK(trial.items() == "1:10+1 2:20+1 3:0+21");
  check_empty(trial);
}

TEST_CASE("what a request waited for is told by reason, in time and steps") {
  Options options = small_options();
  options.max_num_seqs = 1;
  options.queue_warn_ns = 2 * kMillisecond;
  Trial trial(options);
  trial.add(prompt_of(4, 4));
  REQUIRE(trial.begin());
  trial.now += 5 * kMillisecond;
  trial.add(prompt_of(4, 1));  // while the step is computed
  trial.complete();            // a millisecond later
  CHECK(trial.warned.empty());
  check_empty(trial);
  const Waits& waits = trial.ended.at(2).waits;
  CHECK(waits.ns[static_cast<size_t>(Hold::kStep)] == kMillisecond);
  CHECK(waits.ns[static_cast<size_t>(Hold::kMaxNumSeqs)] == 3 * kMillisecond);
  CHECK(waits.steps[static_cast<size_t>(Hold::kMaxNumSeqs)] == 3);
  CHECK(waits.steps_waited() == 3);
  CHECK(waits.time_waited() == *trial.ended.at(2).admitted - trial.ended.at(2).arrived);
  CHECK(trial.warned == std::map<RequestNumber, Hold>{{2, Hold::kMaxNumSeqs}});
  CHECK(trial.ended.at(1).waits.time_waited() == 0);
}

TEST_CASE("waits survive an abort in the queue and a preemption") {
  Options options = small_options();
  options.kv_blocks = 17;
  Trial trial(options);
  trial.add(prompt_of(100, 120));
  trial.add(prompt_of(100, 120));
  const RequestNumber third = trial.add(prompt_of(100, 1));
  while (trial.preempted.empty()) REQUIRE(trial.step());
  trial.scheduler.finish(third, FinishReason::kAborted, trial.now);
  check_empty(trial);
  const Waits& aborted = trial.ended.at(third).waits;
  CHECK(aborted.time_waited() == *trial.ended.at(third).finished - trial.ended.at(third).arrived);
  const Waits& preempted = trial.ended.at(2).waits;
  CHECK(preempted.steps[static_cast<size_t>(Hold::kPreemption)] == 1);
  CHECK(preempted.steps[static_cast<size_t>(Hold::kBlocks)] > 10);
}

TEST_CASE("slots are distinct while running, and told when they are left") {
  Trial trial(small_options());
  trial.add(prompt_of(4, 1));
  trial.add(prompt_of(4, 3));
  trial.step();
  CHECK(trial.plan->items[0].sequence->slot == -1);  // over since
  const int kept = trial.plan->items[1].sequence->slot;
  trial.add(prompt_of(4, 3));
  trial.step();
  REQUIRE(trial.plan->released.size() == 1);
  CHECK(trial.plan->released[0] != kept);
  CHECK(trial.plan->items[1].sequence->slot == trial.plan->released[0]);
  check_empty(trial);
}

}  // namespace
}  // namespace hw::scheduler
