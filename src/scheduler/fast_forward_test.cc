#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>

#include "base/random.h"
#include "scheduler/trial.h"

namespace hw::scheduler {
namespace {

// All that can be seen of a scheduler.
std::string state_of(const Scheduler& scheduler) {
  std::string text;
  const auto add = [&](const Sequence& s) {
    text += concat(s.number, " length ", s.length, " computed ", s.computed, " slot ", s.slot,
                   " preemptions ", s.preemptions, " last ", s.last_token, " waited ",
                   s.waits.time_waited(), "/", s.waits.steps_waited(), " blocks");
    for (const BlockId block : s.blocks) text += concat(" ", block);
    text += "\n";
  };
  for (const Sequence* s : scheduler.running()) add(*s);
  for (const Sequence* s : scheduler.waiting()) add(*s);
  const BlockPool& pool = scheduler.cache().pool();
  for (BlockId b = pool.first_free(); b != kNullBlock; b = pool.next_free(b)) {
    text += concat(b, " ");
  }
  const Totals& totals = scheduler.totals();
  text += concat("\nsteps ", totals.steps, " prefill ", totals.prefill_tokens, " decode ",
                 totals.decode_tokens, " sampled ", totals.sampled_tokens, " preemptions ",
                 totals.preemptions, " held ", totals.held.time_waited(), "/",
                 totals.held.steps_waited(), "\n");
  return text;
}

// Lives one random life of lengths, in steps of a millisecond, with or without skipping.
std::string life(uint64_t seed, bool skip, int64_t& skipped) {
  Random random(seed);
  Options options = small_options();
  options.max_num_seqs = 1 + static_cast<int>(random.below(8));
  options.kv_blocks = 40 + static_cast<int64_t>(random.below(60));
  options.watermark = random.below(2) == 0 ? 0.0 : 0.1;
  options.policy = random.below(2) == 0 ? Policy::kFcfs : Policy::kPriority;
  options.enable_prefix_caching = random.below(3) == 0;
  options.token_events = false;
  Trial trial(options);
  std::string log;
  for (int arrivals = 0; arrivals < 30; ++arrivals) {
    Request request;
    request.prompt_tokens = 1 + static_cast<int>(random.below(200));
    request.output_tokens_max = 1 + static_cast<int>(random.below(200));
    request.priority = static_cast<int>(random.below(3));
    for (uint64_t i = 0; i < 12; ++i) request.prompt_hashes.push_back({i, random.below(2)});
    trial.add(request);
    const Nanos next = trial.now + static_cast<Nanos>(random.below(100)) * kMillisecond;
    while (trial.now < next && trial.scheduler.live() > 0) {
      const auto room = (next - trial.now) / kMillisecond;
      const int64_t steps = std::min(trial.scheduler.decode_steps_ahead(), room);
      if (skip && steps > 0) {
        const Nanos ended = trial.now + steps * kMillisecond;
        trial.scheduler.skip_decodes(steps, ended - kMillisecond, ended);
        trial.now = ended;
        skipped += steps;
        continue;
      }
      trial.scheduler.schedule(trial.now);
      trial.now += kMillisecond;
      trial.scheduler.apply_blank(trial.now);
      trial.collect();
    }
    trial.now = std::max(trial.now, next);
    log += state_of(trial.scheduler);
  }
  for (const auto& [number, s] : trial.ended) {
    log += concat(number, " ", *s.admitted, " ", *s.first_token, " ", *s.finished, "\n");
  }
  return log;
}

// The first lines that are not the same; two empty ones where all are.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a), lines_b(b);
  std::string line_a, line_b;
  while (line_a == line_b) {
    const bool more = static_cast<bool>(std::getline(lines_a, line_a));
    if (static_cast<bool>(std::getline(lines_b, line_b)) != more) return {line_a, line_b};
    if (!more) return {};
  }
  return {line_a, line_b};
}

TEST_CASE("skipping steps in which only lengths change gives the same state, byte for byte") {
  int64_t skipped = 0, none = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const auto [a, b] = first_difference(life(seed, true, skipped), life(seed, false, none));
    CHECK(a == b);
  }
  CHECK(skipped > 10'000);
  CHECK(none == 0);
}

TEST_CASE("nothing is skipped up to an end, a new block that is lacking, or an admission") {
  Options options = small_options();
  options.kv_blocks = 9;
  Trial trial(options);
  Request request;
  request.prompt_tokens = 20;
  request.output_tokens_max = 50;
  trial.add(request);
  CHECK(trial.scheduler.decode_steps_ahead() == 0);
  trial.step();
  CHECK(trial.scheduler.decode_steps_ahead() == 48);  // one is there, the last one is an end
  trial.step();
  request.output_tokens_max = 100;
  trial.add(request);
  trial.step();
  trial.step();
  // 23 and 21 tokens are computed, in two blocks each; four blocks are left.
  CHECK(trial.scheduler.decode_steps_ahead() == 41);
}

}  // namespace
}  // namespace hw::scheduler
