#include "planner/instance.h"

#include <algorithm>

#include "base/assert.h"

namespace hw::planner {

using gpu_model::StepCost;
using gpu_model::StepLoad;

namespace {

// Neighbours in a step have most often waited equally long: they are counted in one go.
class GapRun {
 public:
  explicit GapRun(GapHistogram& gaps) : gaps_(gaps) {}
  ~GapRun() { gaps_.add(gap_, count_); }
  GapRun(const GapRun&) = delete;
  GapRun& operator=(const GapRun&) = delete;

  void add(Nanos gap) {
    if (gap != gap_) {
      gaps_.add(gap_, count_);
      gap_ = gap;
      count_ = 0;
    }
    ++count_;
  }

 private:
  GapHistogram& gaps_;
  Nanos gap_ = 0;
  int64_t count_ = 0;
};

}  // namespace

Instance::Instance(const scheduler::Options& options, gpu_model::StepCost& cost,
                   Stretches stretches)
    : scheduler_(options), cost_(cost), stretches_(stretches) {}

Status Instance::add(scheduler::Request request, Nanos at) {
  now_ = std::max(now_, at);
  request.arrived = at;
  return scheduler_.add(std::move(request));
}

std::optional<Nanos> Instance::next_step_at() const {
  if (scheduler_.live() == 0) return std::nullopt;
  return now_;
}

void Instance::advance(Nanos until, std::vector<Ended>& ended) {
  HW_ASSERT(scheduler_.live() > 0);
  const int64_t steps =
      stretches_ == Stretches::kSkipped && now_ < until ? scheduler_.decode_steps_ahead() : 0;
  if (steps > 0) return skip(steps, until);
  const scheduler::StepPlan& plan = scheduler_.schedule(now_);
  if (plan.items.empty()) {  // waits for company
    now_ = std::max(now_ + 1, std::min(until, plan.wake.value_or(now_ + 1)));
  } else {
    const Nanos length = price(plan);
    now_ += length;
    count_step(plan, length);
    scheduler_.apply_blank(now_);
  }
  scheduler_.take_events(events_);
  for (const scheduler::Event& event : events_) {
    if (event.kind != scheduler::Event::Kind::kFinished) continue;
    const scheduler::Sequence& sequence = *event.sequence;
    ended.push_back({sequence.number, sequence.admitted.value_or(now_),
                     sequence.first_token.value_or(now_), sequence.last_token,
                     sequence.output_tokens(), sequence.preemptions, sequence.cached_tokens});
  }
}

// Steps that only decode: each is priced as by price(), for nothing but the context grows.
void Instance::skip(int64_t steps, Nanos until) {
  StepLoad load;
  for (const scheduler::Sequence* sequence : scheduler_.running()) {
    StepCost::add_decode(load, sequence->computed);
  }
  Nanos began = now_;
  int64_t done = 0;
  for (; done < steps && now_ < until; ++done) {
    began = now_;
    const Nanos length = cost_.nanos(load);
    now_ += length;
    work_.busy += length;
    work_.longest_step = std::max(work_.longest_step, length);
    // Nobody was held up since the last token but in the first of them.
    if (done > 0) {
      work_.gaps.add(length, load.decodes);
    } else {
      GapRun run(work_.gaps);
      for (const scheduler::Sequence* sequence : scheduler_.running()) {
        run.add(now_ - sequence->last_token);
      }
    }
    load.decode_context += load.decodes;
  }
  scheduler_.skip_decodes(done, began, now_);
}

void Instance::count_step(const scheduler::StepPlan& plan, Nanos length) {
  work_.busy += length;
  work_.longest_step = std::max(work_.longest_step, length);
  work_.blocks_most = std::max(work_.blocks_most, scheduler_.load().blocks_used);
  if (plan.shape.prefill_tokens > 0) ++work_.mixed_steps;
  GapRun run(work_.gaps);
  for (const scheduler::StepItem& item : plan.items) {
    // A token behind others, computed alone or, after a preemption, with all before it.
    const bool goes_on = item.decode || (item.sample && item.sequence->output_tokens() > 0);
    if (goes_on) run.add(now_ - item.sequence->last_token);
  }
}

Nanos Instance::price(const scheduler::StepPlan& plan) {
  StepLoad load;
  for (const scheduler::StepItem& item : plan.items) {
    if (item.decode) {
      StepCost::add_decode(load, item.start);
    } else {
      cost_.add_prefill(load, item.start, item.count,
                        item.sample ? StepCost::Ends::kYes : StepCost::Ends::kNo);
    }
  }
  return cost_.nanos(load);
}

}  // namespace hw::planner
