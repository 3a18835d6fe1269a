// The engine without its thread: the scheduler, the text of each answer, and who hears of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "engine/backend.h"
#include "engine/engine_log.h"
#include "engine/engine_metrics.h"
#include "engine/limits.h"
#include "engine/output_text.h"
#include "engine/tokenizer.h"
#include "scheduler/scheduler.h"

namespace hw::engine {

using scheduler::Load;

// The end of an answer.
struct Ending {
  FinishReason reason = FinishReason::kStop;
  Record record;
};

// News of one request: what one step added to its answer.
struct Update {
  std::string text;       // valid UTF-8; may be empty, for text may be held back
  int output_tokens = 0;  // so far
  std::optional<Ending> ending;
};

// Hears the news of one request, in order; the one with an ending is the last, and comes always.
class Sink {
 public:
  virtual ~Sink() = default;
  // On the engine's thread: takes what it needs and returns at once, without calling the engine.
  virtual void on_update(const Update& update) = 0;
};

// An update on its way.
struct Delivery {
  std::shared_ptr<Sink> sink;
  Update update;
};

// One thread; deterministic: the same calls with the same times give the same deliveries.
class Core {
 public:
  // The tokenizer outlives it.
  // So does the log; none: no lines.
  Core(const Limits& limits, const Tokenizer& tokenizer, const EngineMetrics& metrics = {},
       EngineLog* log = nullptr);

  // Queues a request that fit_request() has passed. Numbers as in Scheduler::add().
  void add(RequestNumber number, Request request, std::shared_ptr<Sink> sink, Nanos arrived);
  void abort(RequestNumber number, Nanos now);
  // Aborts all that is in it.
  void abort_all(Nanos now);
  // The next step, valid until it is completed; it is executed and completed unless it is empty.
  const StepPlan& plan(Nanos now);
  void complete(const StepResult& result, Nanos now);
  // What is to be told since the last call; one for each request at most.
  std::vector<Delivery> take_deliveries();

  // Requests in it, in any state.
  int live() const { return scheduler_.live(); }
  // Those of them whose sink somebody else holds too, and so waits for the answer.
  int listened() const;
  // Ends a sequence with an error; what is over or unknown is ignored. Between steps.
  void evict(RequestNumber number, Nanos now);
  // Ends all that run with an error. Between steps, or instead of completing one.
  void fail_running(Nanos now);
  // What the backend held is gone, with the step under way: all that run are computed again.
  void lose_backend(Nanos now);
  // Ends all whose request has this id, as abort() does; how many those were.
  int abort_id(std::string_view id, Nanos now);
  // Forgets all cached blocks; false while any is in use.
  bool reset_prefix_cache() { return scheduler_.reset_prefix_cache(); }
  // Frees blocks that no live sequence has; how many those were.
  int64_t reclaim_blocks() { return scheduler_.reclaim_blocks(); }
  // Faults on purpose: this share of the sequences that end from now on keep their blocks; this
  // share of all blocks, as far as they are free, is lost at once.
  void leak(double share);
  void lose_blocks(double share);
  // The step under way, as it was planned.
  const StepPlan& planned() const { return plan_; }
  // For looking at.
  const scheduler::Scheduler& scheduler() const { return scheduler_; }
  // How full it is now.
  Load load() const { return scheduler_.load(); }

 private:
  struct Answer {
    OutputText text;
    std::string id;
    Sampling sampling;
    std::shared_ptr<Sink> sink;
    Nanos arrived = 0;
    Nanos last_token = 0;
    int output_tokens = 0;
    std::optional<Update> news;
  };

  void take_over(const scheduler::StepPlan& plan);
  void count_held();
  void gather(Nanos now);
  void hear(const scheduler::Event& event, Nanos now);
  void hear_token(Answer& answer, const scheduler::Event& event, Nanos now);
  void hear_end(Answer& answer, const scheduler::Sequence& sequence);
  void warn_of_wait(const Answer& answer, const scheduler::Event& event) const;
  Update& news_of(RequestNumber number, Answer& answer);

  const Tokenizer& tokenizer_;
  scheduler::Scheduler scheduler_;
  StepPlan plan_;
  scheduler::StepResult result_;          // kept for its room
  std::vector<scheduler::Event> events_;  // likewise
  scheduler::Totals counted_;             // what the metrics have
  std::unordered_map<RequestNumber, Answer> answers_;
  std::vector<RequestNumber> touched_;  // those with news, in order
  Nanos step_began_ = 0;
  EngineMetrics metrics_;
  EngineLog* log_;
  double leak_share_ = 0;
  Random fault_random_{1};
};

}  // namespace hw::engine
