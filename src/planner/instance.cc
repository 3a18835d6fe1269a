#include "planner/instance.h"

#include <algorithm>

#include "base/assert.h"

namespace hw::planner {

using gpu_model::StepCost;
using gpu_model::StepLoad;

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
    now_ += price(plan);
    scheduler_.apply_blank(now_);
  }
  scheduler_.take_events(events_);
  for (const scheduler::Event& event : events_) {
    if (event.kind != scheduler::Event::Kind::kFinished) continue;
    const scheduler::Sequence& sequence = *event.sequence;
    ended.push_back({sequence.number, sequence.first_token.value_or(now_), sequence.last_token,
                     sequence.output_tokens(), sequence.preemptions});
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
    now_ += cost_.nanos(load);
    load.decode_context += load.decodes;
  }
  scheduler_.skip_decodes(done, began, now_);
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
