// Random lives of the scheduler: whatever arrives, leaves, fails or is lost, in whatever order, the
// invariants hold after every call. A life that breaks one is cut down to a short trace.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "scheduler/trial.h"

namespace hw::scheduler {

// Plants what a bug would leave behind.
class SchedulerProbe {
 public:
  // A block that nobody gives back.
  static void leak_block(Scheduler& scheduler) {
    if (scheduler.cache_.pool_.free_blocks() > 0) scheduler.cache_.take();
  }
};

namespace {

#ifdef HEADWAY_CHECK_INVARIANTS
constexpr int64_t kSteps = 40'000;  // the scheduler itself checks as well
#else
constexpr int64_t kSteps = 1'000'000;
#endif

// One thing that happens. Numbers are taken modulo what there is, so that a trace stays one when
// any action is left out.
struct Action {
  // What; the arguments are those of describe().
  enum class Kind : uint8_t { kAdd, kAbort, kStep, kAbortInStep, kFail, kAdvance, kLose, kReset };
  Kind kind = Kind::kStep;
  int a = 0, b = 0, c = 0, d = 0;
};

std::string describe(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kAdd:
      return concat("add prompt ", action.a, " output ", action.b, " priority ", action.c,
                    " beginning ", action.d, "\n");
    case Action::Kind::kAbort:
      return concat("abort ", action.a, "\n");
    case Action::Kind::kStep:
      return "step\n";
    case Action::Kind::kAbortInStep:
      return concat("step, abort ", action.a, " meanwhile\n");
    case Action::Kind::kFail:
      return "step fails\n";
    case Action::Kind::kAdvance:
      return concat("wait ", action.a, " ms\n");
    case Action::Kind::kLose:
      return "lose backend\n";
    case Action::Kind::kReset:
      return "reset prefix cache\n";
  }
  return {};
}

// What is lived and under which rules.
struct Trace {
  Options options;
  std::vector<Action> actions;
};

std::string describe(const Trace& trace) {
  const Options& o = trace.options;
  std::string text = concat(
      "max_num_seqs ", o.max_num_seqs, " max_num_batched_tokens ", o.max_num_batched_tokens,
      " chunked ", static_cast<int>(o.enable_chunked_prefill), " threshold ",
      o.long_prefill_token_threshold, " policy ", static_cast<int>(o.policy), " watermark % ",
      static_cast<int>(o.watermark * 100), " reserve ", static_cast<int>(o.reserve_full_prompt),
      " group ", static_cast<int>(o.group_by_length_factor), " caching ",
      static_cast<int>(o.enable_prefix_caching), " when ", static_cast<int>(o.cache_when),
      " per_place ", o.cached_blocks_per_place_max, " kv_blocks ", o.kv_blocks, " batch_wait_ms ",
      o.batch_wait_ns / kMillisecond, " timeout_ms ", o.request_timeout_ns / kMillisecond, "\n");
  for (const Action& action : trace.actions) text += describe(action);
  return text;
}

Options random_options(Random& random) {
  const auto below = [&](int bound) {
    return static_cast<int>(random.below(static_cast<uint64_t>(bound)));
  };
  Options o;
  o.max_num_seqs = 1 + below(6);
  o.max_num_batched_tokens = 8 + below(64);
  o.enable_chunked_prefill = below(4) != 0;
  if (o.enable_chunked_prefill && below(3) == 0) o.long_prefill_token_threshold = 1 + below(30);
  o.policy = below(2) == 0 ? Policy::kFcfs : Policy::kPriority;
  o.watermark = below(3) == 0 ? 0.01 * below(40) : 0.0;
  o.reserve_full_prompt = below(3) != 0;
  o.max_model_len = 100 + below(60);
  o.batch_wait_ns = below(4) == 0 ? below(6) * kMillisecond : 0;
  o.max_concurrent_requests = 4 + below(20);
  o.request_timeout_ns = below(2) == 0 ? 0 : (20 + below(100)) * kMillisecond;
  o.queue_warn_ns = below(2) == 0 ? 0 : 5 * kMillisecond;
  o.group_by_length_factor = below(5) == 0 ? 2.0 : 0.0;
  o.enable_prefix_caching = below(3) != 0;
  o.cache_when = below(2) == 0 ? CacheWhen::kScheduled : CacheWhen::kComputed;
  o.cached_blocks_per_place_max = below(3) == 0 ? 1 + below(4) : 0;
  o.kv_blocks = 4 + below(40);
  return o;
}

Trace random_trace(uint64_t seed) {
  Random random(seed);
  const auto below = [&](int bound) {
    return static_cast<int>(random.below(static_cast<uint64_t>(bound)));
  };
  Trace trace;
  trace.options = random_options(random);
  for (int i = 0; i < 600; ++i) {
    using enum Action::Kind;
    const int what = below(100);
    if (what < 25) {
      trace.actions.push_back({kAdd, 1 + below(90), 1 + below(60), below(3), below(4)});
    } else if (what < 30) {
      trace.actions.push_back({kAbort, below(1000)});
    } else if (what < 33) {
      trace.actions.push_back({kAbortInStep, below(1000)});
    } else if (what < 35) {
      trace.actions.push_back({kFail});
    } else if (what < 38) {
      trace.actions.push_back({kAdvance, 1 + below(20)});
    } else if (what == 38) {
      trace.actions.push_back({below(2) == 0 ? kLose : kReset});
    } else {
      trace.actions.push_back({kStep});
    }
  }
  return trace;
}

enum class Plant : uint8_t { kNothing, kLeakWhenPreemptedOneIsAborted };

// Lives a trace. What went wrong first is in `broken`.
class Life {
 public:
  Life(const Trace& trace, Plant plant) : trial_(trace.options), plant_(plant) {
    trial_.end_token = 0;
    trial_.script = [](const Sequence& s) {
      return (s.length * 31 + static_cast<int>(s.number) * 17) % 23;  // 0 ends
    };
    for (const Action& action : trace.actions) {
      act(action);
      if (!broken.empty()) return;
    }
    drain();
  }
  std::string broken;
  int64_t steps = 0;

 private:
  void act(const Action& action) {
    switch (action.kind) {
      case Action::Kind::kAdd:
        add(action);
        break;
      case Action::Kind::kAbort:
        abort(action.a);
        break;
      case Action::Kind::kStep:
        step(StepOutcome::kDone, nullptr);
        break;
      case Action::Kind::kAbortInStep:
        step(StepOutcome::kDone, &action);
        break;
      case Action::Kind::kFail:
        step(StepOutcome::kFailed, nullptr);
        break;
      case Action::Kind::kAdvance:
        trial_.now += action.a * kMillisecond;
        break;
      case Action::Kind::kLose:
        trial_.scheduler.lose_backend(trial_.now);
        for (auto& [number, place] : place_) place = 0;
        break;
      case Action::Kind::kReset:
        trial_.scheduler.reset_prefix_cache();
        break;
    }
    look();
  }

  // Prompts of one beginning share their first tokens, so that there is something to find.
  void add(const Action& action) {
    Request request = prompt_of(action.a, action.b, 1000 * (action.d % 3));
    if (action.a % 5 == 0) request.prompt.back() = -1 - static_cast<int>(trial_.last);
    if (action.d == 3) request.cache_salt = "salt";
    request.priority = action.c;
    request.output_tokens_min = action.b % 4;
    request.ignore_end = action.b % 3 == 0;
    trial_.add(std::move(request));
    if (trial_.error.empty()) ++added_;
  }

  // One of those that live, and again; now and then one that does not.
  void abort(int which) {
    std::vector<const Sequence*> live = trial_.scheduler.waiting();
    live.insert(live.end(), trial_.scheduler.running().begin(), trial_.scheduler.running().end());
    if (live.empty()) return trial_.scheduler.finish(1, FinishReason::kAborted, trial_.now);
    const Sequence& sequence = *live[static_cast<size_t>(which) % live.size()];
    const RequestNumber number = sequence.number;
    const bool preempted = sequence.state == State::kPreempted;
    trial_.scheduler.finish(number, FinishReason::kAborted, trial_.now);
    trial_.scheduler.finish(number, FinishReason::kError, trial_.now);
    const bool between = trial_.scheduler.under_way() == nullptr;
    if (preempted && between && plant_ == Plant::kLeakWhenPreemptedOneIsAborted) {
      SchedulerProbe::leak_block(trial_.scheduler);
    }
  }

  void step(StepOutcome outcome, const Action* abort_meanwhile) {
    const size_t preempted = trial_.preempted.size();
    const int64_t preempted_before = trial_.scheduler.totals().preemptions;
    if (!trial_.begin()) {
      const bool may_rest = trial_.plan->wake.has_value() || trial_.scheduler.live() == 0;
      if (!may_rest) say("nobody is computed though somebody waits");
      trial_.now += kMillisecond;
      trial_.collect();
      return;
    }
    ++steps;
    watch_plan(trial_.scheduler.totals().preemptions > preempted_before);
    look();
    if (abort_meanwhile != nullptr) abort(abort_meanwhile->a);
    trial_.complete(outcome);
    for (size_t i = preempted; i < trial_.preempted.size(); ++i) place_[trial_.preempted[i]] = 0;
  }

  // What a plan must be by itself and after those before it.
  void watch_plan(bool preempts) {
    for (const StepItem& item : trial_.plan->items) {
      const Sequence& sequence = *item.sequence;
      const bool admitted = item.start == item.hit_tokens && !runs_.contains(sequence.number);
      if (sequence.deadline <= trial_.now) say("a late sequence is computed");
      if (!admitted && item.start != place_[sequence.number]) {
        if (sequence.preemptions == 0) say("a token is computed twice, or left out");
      }
      if (admitted && sequence.preemptions == 0) watch_admission(sequence, preempts);
      place_[sequence.number] = item.start + item.count;
    }
    runs_.clear();
    for (const Sequence* sequence : trial_.scheduler.running()) runs_.insert(sequence->number);
  }

  void watch_admission(const Sequence& sequence, bool preempts) {
    // A step that ended empty is planned again, and then may admit.
    if (preempts && trial_.plan->held == Hold::kPreemption)
      say("admitted in a step that preempted");
    if (trial_.scheduler.options().policy != Policy::kFcfs) return;
    if (sequence.number < newest_) say("a later arrival was admitted first");
    newest_ = std::max(newest_, sequence.number);
  }

  void drain() {
    for (int i = 0; trial_.scheduler.live() > 0 && broken.empty(); ++i) {
      if (i > 100'000) return say("the queue does not move");
      step(StepOutcome::kDone, nullptr);
      look();
    }
    trial_.collect();
    if (trial_.used() != 0) say("blocks are used though nobody is there");
    if (static_cast<int>(trial_.ended.size()) != added_) say("not all have ended");
    look();
  }

  void look() {
    if (!broken.empty()) return;
    broken = broken_invariant(trial_.scheduler);
    if (broken.empty()) broken = trial_.memory_error;
  }
  void say(const char* what) {
    if (broken.empty()) broken = what;
  }

  Trial trial_;
  Plant plant_;
  int added_ = 0;
  RequestNumber newest_ = 0;
  std::map<RequestNumber, int> place_;  // up to where each is computed
  std::set<RequestNumber> runs_;        // after the last plan
};

std::string broken_by(const Trace& trace, Plant plant) {
  return Life(trace, plant).broken;
}

// Leaves out whatever the failure does not need: halves, quarters, ... single actions.
void leave_out(Trace& trace, Plant plant) {
  for (size_t chunk = std::max<size_t>(1, trace.actions.size() / 2); chunk > 0; chunk /= 2) {
    for (size_t at = 0; at + chunk <= trace.actions.size();) {
      Trace less = trace;
      const auto from = less.actions.begin() + static_cast<std::ptrdiff_t>(at);
      less.actions.erase(from, from + static_cast<std::ptrdiff_t>(chunk));
      if (broken_by(less, plant).empty()) {
        at += chunk;
      } else {
        trace = std::move(less);
      }
    }
  }
}

// Makes numbers smaller where the failure stays.
void make_smaller(Trace& trace, Plant plant) {
  for (Action& action : trace.actions) {
    const int least = action.kind == Action::Kind::kAdd ? 1 : 0;  // of a prompt and an answer
    const std::pair<int*, int> numbers[] = {
        {&action.a, least}, {&action.b, least}, {&action.c, 0}, {&action.d, 0}};
    for (const auto& [number, floor] : numbers) {
      for (const int smaller : {floor, *number / 2, *number - 1}) {
        const int before = *number;
        if (smaller < floor || smaller >= before) continue;
        *number = smaller;
        if (!broken_by(trace, plant).empty()) break;
        *number = before;
      }
    }
  }
}

Trace shrunk(Trace trace, Plant plant) {
  for (size_t before = 0; before != trace.actions.size();) {
    before = trace.actions.size();
    leave_out(trace, plant);
    make_smaller(trace, plant);
  }
  return trace;
}

TEST_CASE("random lives break no invariant and leave nothing behind") {
  int64_t steps = 0;
  for (uint64_t seed = 1; steps < kSteps; ++seed) {
    const Trace trace = random_trace(seed);
    const Life life(trace, Plant::kNothing);
    steps += life.steps;
    if (life.broken.empty()) continue;
    const Trace least = shrunk(trace, Plant::kNothing);
    FAIL("seed ", seed, ": ", life.broken, "\nin short: ", broken_by(least, Plant::kNothing), "\n",
         describe(least));
  }
  MESSAGE(steps, " steps");
}

TEST_CASE("a planted leak is found, and cut down to the few actions that it takes") {
  constexpr Plant kPlant = Plant::kLeakWhenPreemptedOneIsAborted;
  int found = 0;
  for (uint64_t seed = 1; found < 3; ++seed) {
    REQUIRE(seed < 200);
    const Trace trace = random_trace(seed);
    if (broken_by(trace, kPlant).empty()) continue;
    ++found;
    const Trace least = shrunk(trace, kPlant);
    CAPTURE(describe(least));
    CHECK(broken_by(least, kPlant).find("references, and 0 sequences hold it") !=
          std::string::npos);
    CHECK(least.actions.size() < 20);  // arrivals, steps until blocks are lacking, the abort
    CHECK(least.actions.back().kind == Action::Kind::kAbort);
    if (found == 1) MESSAGE("the shortest trace of seed ", seed, ":\n", describe(least));
  }
}

}  // namespace
}  // namespace hw::scheduler
