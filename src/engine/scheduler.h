// Continuous batching as a deterministic state machine: who computes how many tokens in each step.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "engine/backend.h"
#include "engine/limits.h"
#include "engine/request.h"
#include "engine/sequence.h"

namespace hw::engine {

// What a change of state means to whoever asked.
struct Event {
  // What happened.
  enum class Kind : uint8_t {
    kToken,       // `token` was generated
    kFinished,    // over, by `reason`; nothing follows for this sequence
    kPreempted,   // lost its cells to others; goes on later
    kWaitedLong,  // waited longer than queue_warn_ns for its first step, `record.queue_ns`
  };
  Kind kind = Kind::kToken;
  RequestNumber sequence = 0;
  SampledToken token;
  FinishReason reason = FinishReason::kStop;
  Record record;
};

// How full it is.
struct Load {
  int running = 0;
  int waiting = 0;  // preempted ones included
  int64_t cells_used = 0;
  int64_t cells = 0;
};

// The loop is
//
//   while (!(plan = schedule(now)).empty()) { result = execute(plan); apply(result, now); }
//   take_events()
//
// Rules: first come, first served, as vLLM v1 in what it has of it. Decodes of one token first,
// then prompts in the order of admission, cut to what is left of the step; then new requests, while
// slots, cells and tokens are left, stopping at the first that does not fit. A sequence takes cells
// for all its known tokens when admitted and one for each later token; where none is left, the one
// admitted last gives up its cells, goes back to the queue's front and is computed again later.
// All ways out (end, length, abort, deadline, error) release through finish().
//
// One thread; knows no clock but the times it is given, which never decrease.
class Scheduler {
 public:
  explicit Scheduler(const Limits& limits);

  // Queues a request that fit_request() has passed, under a number that is not in use. At most
  // requests_max are in it; the caller refuses before.
  void add(RequestNumber number, Request request, Nanos arrived);
  // Ends a sequence in any state; unknown numbers (over already) are ignored. In a step that is
  // being computed it ends when the result is applied.
  void finish(RequestNumber number, FinishReason reason, Nanos now);
  // The next step. Not while one is being computed.
  StepPlan schedule(Nanos now);
  // The result of the plan that schedule() gave last; only of one that was not empty.
  void apply(const StepResult& result, Nanos now);
  // What happened since the last call, in order.
  std::vector<Event> take_events();

  // How full it is now.
  Load load() const;
  // Requests in it, in any state.
  int live() const { return static_cast<int>(sequences_.size()); }
  const Limits& limits() const { return limits_; }

 private:
  void expire(Nanos now);
  // Whether somebody had to give up cells; then nobody is admitted in the same step.
  enum class Pressure : uint8_t { kNone, kPreempted };
  Pressure plan_decodes(StepPlan& plan);
  void plan_prompts(StepPlan& plan);
  void admit(StepPlan& plan, Nanos now);
  bool may_admit(const StepPlan& plan) const;
  bool hold_back(StepPlan& plan, Nanos now) const;
  Pressure take_cell_for(Sequence& sequence);
  void add_item(StepPlan& plan, Sequence& sequence, int count);
  int chunk_of(const Sequence& sequence, int budget) const;
  void preempt(Sequence& sequence);
  void release(Sequence& sequence);
  void take_token(Sequence& sequence, const SampledToken& token, Nanos now);
  void end(Sequence& sequence, FinishReason reason, Nanos now);
  void check() const;

  Limits limits_;
  std::unordered_map<RequestNumber, std::unique_ptr<Sequence>> sequences_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;  // in the order of admission
  std::vector<int> free_slots_;
  std::vector<int> released_slots_;  // to be emptied with the next plan
  std::vector<RequestNumber> in_flight_;
  bool executing_ = false;
  int64_t cells_used_ = 0;
  std::vector<Event> events_;
};

}  // namespace hw::engine
