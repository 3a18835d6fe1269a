#include "scheduler/kv_cache.h"

#include <doctest/doctest.h>

#include "scheduler/trial.h"

namespace hw::scheduler {
namespace {

Options caching() {
  Options options = small_options();
  options.enable_prefix_caching = true;
  options.max_num_batched_tokens = 256;
  return options;
}

void check_empty(Trial& trial) {
  CHECK(trial.run());
  CHECK(trial.memory_error == "");
  CHECK(trial.used() == 0);
}

int cached(const Trial& trial, RequestNumber number) {
  REQUIRE(trial.ended.contains(number));
  return trial.ended.at(number).cached_tokens;
}

TEST_CASE("a prompt that was seen is found in whole blocks, its last token never") {
  Trial trial(caching());
  trial.add(prompt_of(64, 1));
  check_empty(trial);
  trial.add(prompt_of(64, 1));  // four full blocks, and somebody needs the last one's scores
  trial.step();
  CHECK(trial.items() == "2:48+16");
  CHECK(trial.plan->items[0].hit_tokens == 48);
  trial.add(prompt_of(65, 1));
  trial.step();
  CHECK(trial.items() == "3:64+1");
  trial.add(prompt_of(40, 1));
  check_empty(trial);
  CHECK(cached(trial, 4) == 32);
  CHECK(trial.scheduler.totals().cache_hit_tokens == 48 + 64 + 32);
  CHECK(trial.scheduler.totals().cache_queried_tokens == 64 + 64 + 65 + 40);
}

TEST_CASE("an answer is found too when the conversation goes on") {
  Trial trial(caching());
  trial.add(prompt_of(40, 30));
  check_empty(trial);
  Request next;
  next.prompt = trial.ended.at(1).tokens;  // 70 tokens, of which the last was never computed
  next.prompt.resize(100, 1);
  next.output_tokens_max = 1;
  trial.add(next);
  check_empty(trial);
  CHECK(cached(trial, 2) == 64);
}

TEST_CASE("prefixes of different salts never meet") {
  Trial trial(caching());
  Request request = prompt_of(64, 1);
  request.cache_salt = "a";
  trial.add(request);
  check_empty(trial);
  trial.add(prompt_of(64, 1));
  trial.add(request);
  check_empty(trial);
  CHECK(cached(trial, 2) == 0);
  CHECK(cached(trial, 3) == 48);
}

TEST_CASE("blocks of a running sequence are shared, and stay as long as one needs them") {
  Trial trial(caching());
  trial.add(prompt_of(64, 30));
  trial.step();
  CHECK(trial.used() == 4);
  trial.add(prompt_of(80, 30));
  trial.step();
  CHECK(trial.items() == "1:64+1 2:64+16");
  CHECK(trial.used() == 6);
  trial.scheduler.finish(1, FinishReason::kAborted, trial.now);
  CHECK(trial.used() == 5);
  check_empty(trial);
}

TEST_CASE("two admissions of one step share, unless blocks count when computed only") {
  for (const CacheWhen when : {CacheWhen::kScheduled, CacheWhen::kComputed}) {
    Options options = caching();
    options.cache_when = when;
    Trial trial(options);
    trial.add(prompt_of(64, 4));
    trial.add(prompt_of(64, 4));
    trial.step();
    CHECK(trial.items() == (when == CacheWhen::kScheduled ? "1:0+64 2:48+16" : "1:0+64 2:0+64"));
    trial.add(prompt_of(64, 4));
    trial.step();
    CHECK(trial.items() == "1:64+1 2:64+1 3:48+16");
    check_empty(trial);
  }
}

TEST_CASE("the tail of a sequence is lost first, its beginning last") {
  Options options = caching();
  options.kv_blocks = 9;
  Trial trial(options);
  trial.add(prompt_of(112, 1));  // 7 blocks
  check_empty(trial);
  trial.add(prompt_of(48, 1, 1000));  // the unused block and two of the tail
  check_empty(trial);
  trial.add(prompt_of(112, 1));
  check_empty(trial);
  CHECK(cached(trial, 3) == 80);
}

TEST_CASE("a preempted sequence finds its own blocks again") {
  Options options = caching();
  options.kv_blocks = 17;
  Trial trial(options);
  trial.add(prompt_of(100, 120));
  trial.add(prompt_of(100, 120, 5000));
  check_empty(trial);
  CHECK(trial.ended.at(2).preemptions > 0);
  CHECK(cached(trial, 2) == 0);
  CHECK(trial.tokens[2] == 120);
}

TEST_CASE("what a failed step should have computed is not found") {
  for (const CacheWhen when : {CacheWhen::kScheduled, CacheWhen::kComputed}) {
    Options options = caching();
    options.cache_when = when;
    options.max_num_batched_tokens = 32;
    Trial trial(options);
    trial.add(prompt_of(64, 1));
    trial.step();
    trial.step(StepOutcome::kFailed);
    CHECK(trial.scheduler.cache().prefixes()->size() == 2);
    trial.add(prompt_of(64, 1));
    check_empty(trial);
    CHECK(cached(trial, 2) == 32);
  }
}

TEST_CASE("the cache is emptied only while nobody uses a block") {
  Trial trial(caching());
  trial.add(prompt_of(64, 2));
  trial.step();
  CHECK_FALSE(trial.scheduler.reset_prefix_cache());
  check_empty(trial);
  CHECK(trial.scheduler.reset_prefix_cache());
  trial.add(prompt_of(64, 1));
  check_empty(trial);
  CHECK(cached(trial, 2) == 0);
}

TEST_CASE("hashes of a trace stand for the tokens that it lacks") {
  Trial trial(caching());
  Request request;
  request.prompt_tokens = 70;
  request.output_tokens_max = 20;
  request.prompt_hashes = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}};  // one more than full blocks
  trial.add(request);
  check_empty(trial);
  request.prompt_hashes[2] = {7, 7};
  trial.add(request);
  check_empty(trial);
  CHECK(cached(trial, 2) == 32);
}

TEST_CASE("with so many cached blocks at a place one more displaces the oldest that is free") {
  Options options = caching();
  options.cached_blocks_per_place_max = 2;
  options.cache_when = CacheWhen::kComputed;
  Trial trial(options);
  for (int i = 0; i < 3; ++i) {
    trial.add(prompt_of(40, 1, 100 * i));
    check_empty(trial);
  }
  const PrefixCache& prefixes = *trial.scheduler.cache().prefixes();
  CHECK(prefixes.at_place(0) == 2);
  CHECK(prefixes.at_place(1) == 2);
  trial.add(prompt_of(40, 1, 0));
  trial.add(prompt_of(40, 1, 200));
  check_empty(trial);
  CHECK(cached(trial, 4) == 0);
  CHECK(cached(trial, 5) == 32);
}

TEST_CASE("changes of the cache are told in order, for a backend that follows") {
  Options options = caching();
  options.cache_when = CacheWhen::kComputed;
  options.kv_blocks = 4;
  Trial trial(options);
  trial.add(prompt_of(33, 1));
  trial.step();
  const int slot = trial.plan->items[0].sequence->slot;
  trial.add(prompt_of(40, 1, 500));
  trial.step();
  const std::vector<CacheChange>& changes = trial.plan->cache_changes;
  REQUIRE(changes.size() == 4);
  CHECK(changes[0].kind == CacheChange::Kind::kKept);
  CHECK(changes[0].place == 0);
  CHECK(changes[1].place == 1);
  CHECK(slot == -1);  // it is over; the change says which slot it had
  CHECK(changes[1].slot == 0);
  CHECK(changes[2].kind == CacheChange::Kind::kDropped);
  CHECK(changes[2].block == changes[1].block);  // from the tail
  CHECK(changes[3].block == changes[0].block);
  check_empty(trial);
}

}  // namespace
}  // namespace hw::scheduler
