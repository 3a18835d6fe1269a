#include "engine/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace hw::engine {

Scheduler::Scheduler(const Limits& limits) : limits_(limits) {
  HW_ASSERT(limits.sequences_max > 0 && limits.step_tokens_max >= limits.sequences_max);
  HW_ASSERT(limits.model_len_max <= limits.cells);  // so that one alone can always go on
  for (int slot = limits.sequences_max; slot-- > 0;) free_slots_.push_back(slot);
}

void Scheduler::add(RequestNumber number, Request request, Nanos arrived) {
  HW_ASSERT(static_cast<int>(sequences_.size()) < limits_.requests_max);
  HW_ASSERT(!request.prompt.empty() && request.output_tokens_max > 0);
  HW_ASSERT(static_cast<int>(request.prompt.size()) + request.output_tokens_max <=
            limits_.model_len_max);
  auto sequence = std::make_unique<Sequence>();
  sequence->number = number;
  sequence->prompt_tokens = static_cast<int>(request.prompt.size());
  sequence->tokens = std::move(request.prompt);
  sequence->request = std::move(request);
  sequence->arrived = arrived;
  sequence->deadline = arrived + limits_.request_timeout_ns;
  waiting_.push_back(sequence.get());
  const bool added = sequences_.emplace(number, std::move(sequence)).second;
  HW_ASSERT(added);
}

void Scheduler::finish(RequestNumber number, FinishReason reason, Nanos now) {
  const auto found = sequences_.find(number);
  if (found == sequences_.end()) return;
  Sequence& sequence = *found->second;
  if (sequence.in_flight > 0) {
    if (!sequence.finish_after_step) sequence.finish_after_step = reason;
    return;
  }
  end(sequence, reason, now);
}

StepPlan Scheduler::schedule(Nanos now) {
  HW_ASSERT(!executing_);
  expire(now);
  StepPlan plan;
  const bool preempted = plan_decodes(plan) == Pressure::kPreempted;
  plan_prompts(plan);
  if (!preempted && !hold_back(plan, now)) admit(plan, now);
  plan.release = std::move(released_slots_);
  released_slots_.clear();
  executing_ = !plan.empty();
  check();
  return plan;
}

void Scheduler::apply(const StepResult& result, Nanos now) {
  HW_ASSERT(executing_);
  executing_ = false;
  const bool done = result.outcome == StepOutcome::kDone;
  auto sampled = result.sampled.begin();
  for (const RequestNumber number : std::exchange(in_flight_, {})) {
    Sequence& sequence = *sequences_.at(number);
    sequence.computed += std::exchange(sequence.in_flight, 0);
    const bool samples = done && sequence.pending() == 0;
    SampledToken token;
    if (samples) {
      HW_ASSERT(sampled != result.sampled.end() && sampled->sequence == number);
      token = *sampled++;
    }
    if (sequence.finish_after_step) {
      end(sequence, *sequence.finish_after_step, now);
    } else if (!done) {
      end(sequence, FinishReason::kError, now);
    } else if (samples) {
      take_token(sequence, token, now);
    }
  }
  HW_ASSERT(sampled == result.sampled.end());
  expire(now);
  check();
}

std::vector<Event> Scheduler::take_events() {
  return std::exchange(events_, {});
}

Load Scheduler::load() const {
  return {static_cast<int>(running_.size()), static_cast<int>(waiting_.size()), cells_used_,
          limits_.cells};
}

void Scheduler::expire(Nanos now) {
  std::vector<Sequence*> late;  // gathered first, for end() changes both lists
  const auto is_late = [now](const Sequence* s) { return s->deadline <= now; };
  std::copy_if(running_.begin(), running_.end(), std::back_inserter(late), is_late);
  std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(late), is_late);
  for (Sequence* sequence : late) end(*sequence, FinishReason::kTimeout, now);
}

Scheduler::Pressure Scheduler::plan_decodes(StepPlan& plan) {
  Pressure pressure = Pressure::kNone;
  // By index: preempting takes sequences off the end, the one in hand among them.
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = *running_[i];
    if (!sequence.decoding()) continue;
    if (take_cell_for(sequence) == Pressure::kPreempted) pressure = Pressure::kPreempted;
    if (sequence.state == SequenceState::kRunning) add_item(plan, sequence, 1);
  }
  return pressure;
}

// Makes sure that the sequence has a cell for its newest token, or is preempted itself.
Scheduler::Pressure Scheduler::take_cell_for(Sequence& sequence) {
  // One that is computed again after a preemption was given all its cells when admitted.
  if (sequence.cells >= static_cast<int64_t>(sequence.tokens.size())) return Pressure::kNone;
  Pressure pressure = Pressure::kNone;
  while (cells_used_ == limits_.cells) {
    pressure = Pressure::kPreempted;
    Sequence& victim = *running_.back();
    preempt(victim);
    if (&victim == &sequence) return pressure;
  }
  ++sequence.cells;
  ++cells_used_;
  return pressure;
}

void Scheduler::plan_prompts(StepPlan& plan) {
  for (Sequence* sequence : running_) {
    if (sequence->in_flight > 0) continue;
    const int count = chunk_of(*sequence, limits_.step_tokens_max - plan.tokens);
    if (count > 0) add_item(plan, *sequence, count);
  }
}

// Tokens of a prompt that fit into what is left of a step; 0 where it has to wait.
int Scheduler::chunk_of(const Sequence& sequence, int budget) const {
  const int pending = sequence.pending();
  if (limits_.chunked_prefill) return std::min({pending, budget, limits_.prompt_step_tokens_max});
  // Without chunks a whole step's budget serves even what cannot fit: a preempted sequence may have
  // grown beyond it, and is computed in pieces then rather than never.
  if (pending <= budget || budget == limits_.step_tokens_max) return std::min(pending, budget);
  return 0;
}

// An idle instance waits a little for company before it starts.
bool Scheduler::hold_back(StepPlan& plan, Nanos now) const {
  if (!running_.empty() || waiting_.empty()) return false;
  if (static_cast<int>(waiting_.size()) >= limits_.sequences_max) return false;
  const Nanos until = waiting_.front()->arrived + limits_.batch_wait_ns;
  if (until <= now) return false;
  plan.wake = std::min(until, waiting_.front()->deadline);
  return true;
}

void Scheduler::admit(StepPlan& plan, Nanos now) {
  while (may_admit(plan)) {
    Sequence& sequence = *waiting_.front();
    const int count = chunk_of(sequence, limits_.step_tokens_max - plan.tokens);
    if (count <= 0) return;
    waiting_.pop_front();
    running_.push_back(&sequence);
    sequence.state = SequenceState::kRunning;
    sequence.slot = free_slots_.back();
    free_slots_.pop_back();
    sequence.cells = static_cast<int64_t>(sequence.tokens.size());
    cells_used_ += sequence.cells;
    if (!sequence.scheduled) {
      sequence.scheduled = now;
      if (limits_.queue_warn_ns > 0 && now - sequence.arrived > limits_.queue_warn_ns) {
        events_.push_back(
            {Event::Kind::kWaitedLong, sequence.number, {}, {}, record_of(sequence, now)});
      }
    }
    add_item(plan, sequence, count);
  }
}

// Whether the head of the queue finds a slot, a token of the step, and cells for all it has.
bool Scheduler::may_admit(const StepPlan& plan) const {
  if (waiting_.empty() || free_slots_.empty()) return false;
  if (plan.tokens >= limits_.step_tokens_max) return false;
  const int64_t keep = running_.empty() ? 0 : limits_.watermark_cells;
  const auto needed = static_cast<int64_t>(waiting_.front()->tokens.size());
  return cells_used_ + needed + keep <= limits_.cells;
}

void Scheduler::add_item(StepPlan& plan, Sequence& sequence, int count) {
  HW_ASSERT(count > 0 && count <= sequence.pending());
  sequence.in_flight = count;
  in_flight_.push_back(sequence.number);
  const std::span<const Token> tokens(sequence.tokens);
  const auto start = static_cast<size_t>(sequence.computed);
  StepItem item;
  item.sequence = sequence.number;
  item.slot = sequence.slot;
  item.start = sequence.computed;
  item.tokens = tokens.subspan(start, static_cast<size_t>(count));
  item.sample = count == sequence.pending();
  item.output = tokens.subspan(static_cast<size_t>(sequence.prompt_tokens));
  item.sampling = &sequence.request.sampling;
  plan.items.push_back(item);
  plan.tokens += count;
}

void Scheduler::preempt(Sequence& sequence) {
  HW_ASSERT(sequence.state == SequenceState::kRunning && sequence.in_flight == 0);
  release(sequence);
  sequence.state = SequenceState::kPreempted;
  ++sequence.preemptions;
  waiting_.push_front(&sequence);
  events_.push_back({Event::Kind::kPreempted, sequence.number, {}, {}, {}});
}

// Gives back slot and cells; the sequence is in running_ before and in no list after.
void Scheduler::release(Sequence& sequence) {
  cells_used_ -= std::exchange(sequence.cells, 0);
  sequence.computed = 0;
  released_slots_.push_back(sequence.slot);
  free_slots_.push_back(std::exchange(sequence.slot, -1));
  std::erase(running_, &sequence);
}

void Scheduler::take_token(Sequence& sequence, const SampledToken& token, Nanos now) {
  sequence.tokens.push_back(token.token);
  if (!sequence.first_token) sequence.first_token = now;
  sequence.last_token = now;
  const bool ends = token.ends && !sequence.request.ignore_end;
  events_.push_back({Event::Kind::kToken, sequence.number, token, {}, {}});
  events_.back().token.ends = ends;
  if (ends) {
    end(sequence, FinishReason::kStop, now);
  } else if (sequence.output_tokens() >= sequence.request.output_tokens_max) {
    end(sequence, FinishReason::kLength, now);
  }
}

void Scheduler::end(Sequence& sequence, FinishReason reason, Nanos now) {
  HW_ASSERT(sequence.in_flight == 0);
  if (sequence.state == SequenceState::kRunning) {
    release(sequence);
  } else {
    std::erase(waiting_, &sequence);
  }
  events_.push_back(
      {Event::Kind::kFinished, sequence.number, {}, reason, record_of(sequence, now)});
  sequences_.erase(sequence.number);
}

void Scheduler::check() const {
  int64_t cells = 0;
  int tokens = 0;
  for (const Sequence* sequence : running_) {
    HW_ASSERT(sequence->state == SequenceState::kRunning && sequence->slot >= 0);
    HW_ASSERT(sequence->computed + sequence->in_flight <= sequence->cells);
    cells += sequence->cells;
    tokens += sequence->in_flight;
  }
  HW_ASSERT(cells == cells_used_ && cells_used_ <= limits_.cells);
  HW_ASSERT(tokens <= limits_.step_tokens_max);
  HW_ASSERT(running_.size() + waiting_.size() == sequences_.size());
  HW_ASSERT(running_.size() + free_slots_.size() == static_cast<size_t>(limits_.sequences_max));
}

}  // namespace hw::engine
