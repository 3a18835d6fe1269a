// Scheduler: continuous batching with vLLM v1's rules as a deterministic state machine: who
// computes how many tokens in each step, and in which blocks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "scheduler/kv_cache.h"
#include "scheduler/options.h"
#include "scheduler/sequence.h"
#include "scheduler/step_plan.h"
#include "scheduler/waiting_queue.h"

namespace hw::scheduler {

// What a change of state means to whoever asked.
struct Event {
  // What happened.
  enum class Kind : uint8_t {
    kAdmitted,    // begins to run; again after a preemption
    kToken,       // `token` was generated
    kFinished,    // over, by sequence->finish_reason; nothing follows for this sequence
    kPreempted,   // lost its blocks to others; goes on later
    kWaitedLong,  // waited longer than queue_warn_ns for its first step; told once
  };
  Kind kind = Kind::kToken;
  SampledToken token;                  // kToken
  Nanos waited_ns = 0;                 // kWaitedLong: so far
  Hold hold = Hold::kStep;             // kWaitedLong: what held it longest
  const Sequence* sequence = nullptr;  // valid until the next take_events() but one
};

// How full it is.
struct Load {
  int running = 0;
  int waiting = 0;  // preempted ones included
  int64_t blocks_used = 0;
  int64_t blocks = 0;  // without the null block
};

// Counted since the start.
struct Totals {
  int64_t steps = 0;  // with items
  int64_t prefill_tokens = 0;
  int64_t decode_tokens = 0;
  int64_t sampled_tokens = 0;
  int64_t preemptions = 0;
  int64_t cache_queried_tokens = 0;  // of prompts admitted for the first time
  int64_t cache_hit_tokens = 0;      // of them, found
  Waits held;                        // of the whole queue, by reason, while somebody waited
};

// Cuts a request to what the options allow: truncates its prompt where they say so, and its answer
// to what the model's length leaves. kBadRequest with the numbers where it can never be computed:
// no prompt, too long a prompt, or more tokens than all blocks hold.
Status fit_request(Request& request, const Options& options);

// The loop is
//
//   plan = schedule(now); result = execute(plan); apply(result, now); take_events()
//
// where a plan without items is not applied. In each step, by docs/scheduler.md:
//
//   1. those that run, in the order of admission, get all tokens that are pending, or what the
//      budget and the threshold leave; where blocks run out somebody gives way;
//   2. if nobody gave way, the queue's head is admitted, again and again, until a limit holds it.
//
// All ways out (end, length, abort, time-out, error) release through one function; ending what is
// over is nothing. One thread; knows no clock but the times it is given, which never decrease, and
// no randomness: the same calls give the same plans. In debug builds broken_invariant() is asked
// after each change (of large pools after some). Steps allocate nothing once their vectors have
// grown.
class Scheduler {
 public:
  // Options that validate() has passed.
  explicit Scheduler(const Options& options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Queues a request, cut by fit_request(), under a number not in use. kBadRequest as there,
  // kRateLimited above max_concurrent_requests; then nothing is queued.
  Status add(Request request);
  // Ends a sequence in any state; unknown numbers (over already) are ignored. One that is in the
  // step under way ends when that is applied, and its token is dropped.
  void finish(RequestNumber number, FinishReason reason, Nanos now);

  // The next step; valid until the next call. Not while one is being computed.
  const StepPlan& schedule(Nanos now);
  // The result of the plan that schedule() gave last; only of one with items.
  void apply(const StepResult& result, Nanos now);
  // As apply() of a step that is done and in which every item with `sample` drew token 0, which
  // ends nothing: for simulation, where answers end by length.
  void apply_blank(Nanos now);
  // The step under way is lost, and with it all that the backend held: everyone who runs is
  // preempted, to be computed again, and the prefix cache is emptied. Between steps too.
  void lose_backend(Nanos now);

  // Faults on purpose, for whoever proves that they are noticed. From now on so many sequences that
  // end do not give their blocks back; and so many free blocks are taken that nobody has (as many
  // as there are are). Until reclaim_blocks() such blocks are lost.
  void forget_releases(int64_t count) { forgotten_releases_ += count; }
  void lose_blocks(int64_t count);
  // Frees all blocks that no live sequence has; how many those were. Between steps.
  int64_t reclaim_blocks();

  // What happened since the last call, in order; `events` is overwritten and its memory kept.
  void take_events(std::vector<Event>& events);

  // For fast-forward, between steps: how many of the next steps only decode, with the same
  // sequences, nobody ending, admitted or preempted; 0 where that is not certain. It is certain
  // only as long as nobody arrives or leaves, no token ends an answer, and no time passes the next
  // deadline.
  int64_t decode_steps_ahead() const;
  // As `steps` (at most decode_steps_ahead()) times schedule() and apply_blank(), except that no
  // token events are made. `began` is the time of the last of the schedule() calls, `ended` that of
  // the last apply_blank().
  void skip_decodes(int64_t steps, Nanos began, Nanos ended);
  // No sequence times out before this; absent: none ever does.
  std::optional<Nanos> next_deadline() const;

  // Forgets all cached blocks. False, and nothing changes, while any block is in use.
  bool reset_prefix_cache();

  // How full it is now.
  Load load() const;
  // Counted since the start.
  const Totals& totals() const { return totals_; }
  // As given.
  const Options& options() const { return options_; }
  // Requests in it, in any state.
  int live() const { return static_cast<int>(by_number_.size()); }
  // nullptr: over or unknown.
  const Sequence* find(RequestNumber number) const;
  // In the order of admission.
  std::span<Sequence* const> running() const { return running_; }
  // In the order in which they would be admitted.
  std::vector<const Sequence*> waiting() const;
  const KvCache& cache() const { return cache_; }
  // The step under way; nullptr between steps.
  const StepPlan* under_way() const { return executing_ ? &plan_ : nullptr; }

 private:
  friend class SchedulerProbe;  // of tests: plants bugs

  void begin_step();
  void settle_waits(Nanos now);
  void mark_fresh(Sequence& sequence, Nanos since);
  void expire(Nanos now);
  void plan_running();
  size_t plan_decodes(size_t first);
  bool find_room(size_t& index, int count);
  std::vector<Sequence*>::iterator victim();
  std::optional<Hold> plan_waiting(Nanos now);
  std::optional<Nanos> batch_wait_end(Nanos now) const;
  bool fits_group(const Sequence& head) const;
  int chunk_of(int pending) const;
  void admit(Sequence& sequence, int hit_tokens, int count, Nanos now);
  void add_item(Sequence& sequence, int count, int hit_tokens);
  void drop_item(Sequence& sequence);
  void count_step();
  void warn_of_wait(Sequence& sequence, Nanos now);
  Waits waits_until(const Sequence& sequence, Nanos now) const;
  void preempt(Sequence& sequence);
  void release(Sequence& sequence);
  void forget_release(Sequence& sequence);
  template <class Draw>
  void apply_items(StepOutcome outcome, Draw draw, Nanos now);
  void take_token(Sequence& sequence, const SampledToken& token, Nanos now);
  bool ends_answer(const Sequence& sequence, const SampledToken& token) const;
  void end(Sequence& sequence, FinishReason reason, Nanos now);
  Event& add_event(Event::Kind kind, const Sequence& sequence);
  Sequence& new_sequence();
  int64_t steps_with_room(int64_t steps) const;
  void take_blocks_in_turn(int64_t steps);
  void check();

  Options options_;
  KvCache cache_;
  std::deque<Sequence> storage_;
  std::vector<Sequence*> spare_;
  std::unordered_map<RequestNumber, Sequence*> by_number_;
  WaitingQueue waiting_;
  std::vector<Sequence*> running_;  // in the order of admission
  std::vector<Sequence*> fresh_;    // queued since the last schedule()
  std::vector<int> free_slots_;     // the lowest last
  std::vector<int> released_;       // since the last plan
  StepPlan plan_;
  bool executing_ = false;
  bool settled_ = false;  // the last step only decoded, and nobody has left or arrived since
  bool preempted_ = false;
  bool sweeping_ = false;  // who ends stays in running_ until the end of apply_items()
  int budget_ = 0;
  int64_t watermark_blocks_;
  int64_t changes_ = 0;
  int64_t forgotten_releases_ = 0;  // to come
  bool blocks_lost_ = false;        // on purpose: the books are wrong until they are reclaimed
  Nanos scheduled_at_ = 0;          // of the last schedule()
  Nanos earliest_deadline_ = 0;     // of all that live; may be earlier than true
  Totals totals_;
  std::vector<Event> events_;
  std::array<std::vector<Sequence*>, kBlockTokens> due_;  // by steps until the next block
  std::vector<Sequence*> ended_;                          // whose events are not taken
  std::vector<Sequence*> handed_;                         // whose events were taken last
};

}  // namespace hw::scheduler
