#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "scheduler/scheduler.h"

namespace hw::scheduler {
namespace {

// Of `steps` decodes of a sequence, how many find no room in the blocks it has at their start.
int64_t blocks_taken(const Sequence& sequence, int64_t steps) {
  const int64_t beyond = sequence.computed + steps - sequence.room;
  return beyond > 0 ? blocks_for(beyond) : 0;
}

}  // namespace

int64_t Scheduler::decode_steps_ahead() const {
  if (executing_ || running_.empty()) return 0;
  // With a queue, a step like the next one must have been planned: then its head stays held, for
  // only lengths have changed since.
  const bool nobody_waits = waiting_.empty() && !plan_.held;
  if (!settled_ && !nobody_waits) return 0;
  if (plan_.held == Hold::kGroup) return 0;  // lengths grow alike with time
  if (!waiting_.empty() && options_.queue_warn_ns > 0 && !waiting_.front().warned) return 0;
  int64_t steps = std::numeric_limits<int>::max();
  for (const Sequence* sequence : running_) {
    if (sequence->pending() != 1 || sequence->output_tokens() < 1) return 0;
    if (sequence->has_content && cache_.prefixes() != nullptr) return 0;  // blocks get hashes
    steps = std::min<int64_t>(steps, sequence->length_end - sequence->length - 1);
  }
  return steps_with_room(steps);
}

// The most steps, up to `steps`, for which the free blocks last.
int64_t Scheduler::steps_with_room(int64_t steps) const {
  const int64_t free = cache_.pool().free_blocks();
  const auto sequences = static_cast<int64_t>(running_.size());
  if (sequences * blocks_for(steps) <= free) return steps;  // a block more for each at most
  const auto lasts = [&](int64_t count) {
    int64_t taken = 0;
    for (const Sequence* sequence : running_) taken += blocks_taken(*sequence, count);
    return taken <= free;
  };
  if (lasts(steps)) return steps;
  int64_t enough = 0;
  for (int64_t too_many = steps; too_many - enough > 1;) {
    const int64_t middle = enough + (too_many - enough) / 2;
    (lasts(middle) ? enough : too_many) = middle;
  }
  return enough;
}

void Scheduler::skip_decodes(int64_t steps, Nanos began, Nanos ended) {
  HW_ASSERT(steps > 0 && began <= ended && ended < earliest_deadline_);
#ifdef HEADWAY_CHECK_INVARIANTS  // costs as much as the rest
  HW_ASSERT(steps <= decode_steps_ahead());
#endif
  const std::optional<Hold> held = plan_.held;
  settle_waits(began);
  plan_.held = held;
  take_blocks_in_turn(steps);
  const auto count = static_cast<int>(steps);
  for (Sequence* sequence : running_) {
    sequence->length += count;
    sequence->computed += count;
    sequence->last_token = ended;
    if (sequence->has_content) {
      sequence->tokens.resize(static_cast<size_t>(sequence->length));
    }
  }
  const int64_t tokens = steps * static_cast<int64_t>(running_.size());
  totals_.steps += steps;
  totals_.decode_tokens += tokens;
  totals_.sampled_tokens += tokens;
  if (plan_.held) totals_.held.steps[static_cast<size_t>(*plan_.held)] += steps;
  check();
}

// Step by step and in the order of admission within each, as those steps would have.
void Scheduler::take_blocks_in_turn(int64_t steps) {
  for (auto& due : due_) due.clear();
  for (Sequence* sequence : running_) {
    due_[static_cast<size_t>(sequence->room - sequence->computed)].push_back(sequence);
  }
  for (int64_t step = 0; step < steps; ++step) {
    for (Sequence* sequence : due_[static_cast<size_t>(step % kBlockTokens)]) {
      cache_.take_block(*sequence);
    }
  }
}

}  // namespace hw::scheduler
