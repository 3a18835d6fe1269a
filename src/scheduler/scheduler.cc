#include "scheduler/scheduler.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "scheduler/invariants.h"

namespace hw::scheduler {
namespace {

constexpr Nanos kNever = std::numeric_limits<Nanos>::max();

// Plans show sequences to others; they are the scheduler's own.
Sequence& own(const StepItem& item) {
  return const_cast<Sequence&>(*item.sequence);
}

size_t index_of(Hold hold) {
  return static_cast<size_t>(hold);
}

// Adds what `later` has more than `earlier`.
void add_difference(Waits& waits, const Waits& later, const Waits& earlier) {
  for (size_t i = 0; i < kHoldCount; ++i) {
    waits.ns[i] += later.ns[i] - earlier.ns[i];
    waits.steps[i] += later.steps[i] - earlier.steps[i];
  }
}

// A new sequence in the memory of an old one, whose vectors keep their room.
void recycle(Sequence& sequence) {
  std::vector<BlockId> blocks = std::move(sequence.blocks);
  std::vector<Token> tokens = std::move(sequence.tokens);
  std::vector<BlockHash> hashes = std::move(sequence.hashes);
  blocks.clear();
  tokens.clear();
  hashes.clear();
  sequence = Sequence();
  sequence.blocks = std::move(blocks);
  sequence.tokens = std::move(tokens);
  sequence.hashes = std::move(hashes);
}

}  // namespace

Scheduler::Scheduler(const Options& options)
    : options_(options),
      cache_(options),
      waiting_(options.policy),
      watermark_blocks_(
          static_cast<int64_t>(options.watermark * static_cast<double>(options.kv_blocks))),
      earliest_deadline_(kNever) {
  HW_ASSERT(validate(options).has_value());
  for (int slot = options.max_num_seqs; slot-- > 0;) free_slots_.push_back(slot);
}

Scheduler::~Scheduler() = default;

Status Scheduler::add(Request request) {
  if (Status fits = fit_request(request, options_); !fits) return fits;
  if (options_.max_concurrent_requests > 0 && live() >= options_.max_concurrent_requests) {
    return fail(ErrorCode::kRateLimited,
                concat("this instance serves at most ", options_.max_concurrent_requests,
                       " requests at once (max_concurrent_requests); try again soon"));
  }
  Sequence& sequence = new_sequence();
  sequence.number = request.number;
  sequence.prompt_tokens = request.prompt_tokens;
  sequence.length = request.prompt_tokens;
  sequence.length_end = request.prompt_tokens + request.output_tokens_max;
  sequence.has_content = !request.prompt.empty();
  sequence.has_stop_tokens = !request.stop_tokens.empty();
  sequence.tokens.assign(request.prompt.begin(), request.prompt.end());
  if (sequence.has_content) sequence.tokens.reserve(static_cast<size_t>(sequence.length_end));
  sequence.blocks.reserve(static_cast<size_t>(blocks_for(sequence.length_end)));
  sequence.arrived = request.arrived;
  const Nanos timeout = request.timeout_ns.value_or(options_.request_timeout_ns);
  sequence.deadline = timeout > 0 ? request.arrived + timeout : kNever;
  sequence.request = std::move(request);
  sequence.request.prompt.clear();
  cache_.hash_prompt(sequence);
  const bool added = by_number_.emplace(sequence.number, &sequence).second;
  HW_ASSERT(added);
  waiting_.push(sequence);
  mark_fresh(sequence, sequence.arrived);
  earliest_deadline_ = std::min(earliest_deadline_, sequence.deadline);
  settled_ = false;
  return {};
}

void Scheduler::finish(RequestNumber number, FinishReason reason, Nanos now) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  Sequence& sequence = *found->second;
  if (sequence.scheduled > 0) {
    if (!sequence.finish_after_step) sequence.finish_after_step = reason;
    return;
  }
  end(sequence, reason, now);
  check();
}

const StepPlan& Scheduler::schedule(Nanos now) {
  HW_ASSERT(!executing_);
  expire(now);
  settle_waits(now);
  size_t stayed = 0;
  do {
    begin_step();
    plan_running();
    if (options_.cache_when == CacheWhen::kScheduled) {
      for (const StepItem& item : plan_.items) cache_.register_full(own(item));
    }
    stayed = plan_.items.size();
    plan_.held = plan_waiting(now);
    // Whoever gave way was first, so the step ended empty; the blocks are there now.
  } while (preempted_ && plan_.items.empty());
  HW_ASSERT(plan_.held.has_value() == !waiting_.empty());
  // Nobody waits before a machine that could work.
  HW_ASSERT(!plan_.items.empty() || waiting_.empty() || plan_.held == Hold::kBatchWait);
  if (plan_.held) warn_of_wait(waiting_.front(), now);
  cache_.take_changes(plan_.cache_changes);
  plan_.released.swap(released_);
  executing_ = !plan_.items.empty();
  if (executing_) count_step();
  settled_ =
      executing_ && !preempted_ && plan_.items.size() == stayed && plan_.shape.prefill_tokens == 0;
  check();
  return plan_;
}

// Empties the plan, keeping its memory.
void Scheduler::begin_step() {
  plan_.items.clear();
  plan_.released.clear();
  plan_.shape = {};
  plan_.held.reset();
  plan_.wake.reset();
  budget_ = options_.max_num_batched_tokens;
  preempted_ = false;
}

// Books the time since the last plan.
void Scheduler::settle_waits(Nanos now) {
  if (plan_.held) totals_.held.ns[index_of(*plan_.held)] += now - scheduled_at_;
  scheduled_at_ = now;
  plan_.held.reset();
  for (Sequence* sequence : fresh_) {
    sequence->fresh = false;
    sequence->waits.ns[index_of(Hold::kStep)] += std::max(Nanos{0}, now - sequence->queued_since);
    sequence->queued_at = totals_.held;
  }
  fresh_.clear();
}

// Queued between two plans: what it waits for until the next is the step under way.
void Scheduler::mark_fresh(Sequence& sequence, Nanos since) {
  sequence.fresh = true;
  sequence.queued_since = since;
  fresh_.push_back(&sequence);
}

void Scheduler::expire(Nanos now) {
  if (now < earliest_deadline_) return;
  std::vector<Sequence*> late;  // gathered first, for end() changes both lists
  const auto is_late = [now](const Sequence* s) { return s->deadline <= now; };
  std::copy_if(running_.begin(), running_.end(), std::back_inserter(late), is_late);
  const std::vector<Sequence*> queue = waiting_.ordered();
  std::copy_if(queue.begin(), queue.end(), std::back_inserter(late), is_late);
  for (Sequence* sequence : late) end(*sequence, FinishReason::kTimeout, now);
  earliest_deadline_ = kNever;
  for (const auto& [number, sequence] : by_number_) {
    earliest_deadline_ = std::min(earliest_deadline_, sequence->deadline);
  }
}

void Scheduler::plan_running() {
  // By index: preempting takes sequences out, the one in hand among them.
  for (size_t i = plan_decodes(0); i < running_.size() && budget_ > 0; i += plan_decodes(i)) {
    Sequence& sequence = *running_[i];
    const int count = std::min(chunk_of(sequence.pending()), budget_);
    HW_ASSERT(count >= 1);
    if (sequence.computed + count > sequence.room && !find_room(i, count)) return;
    add_item(sequence, count, 0);
    ++i;
  }
}

// Plans those from running_[first] on that have one token pending and find room, up to the first
// that has more or finds none; how many these are. Most of what runs in most steps, so this is
// lean.
size_t Scheduler::plan_decodes(size_t first) {
  const size_t most = std::min(running_.size() - first, static_cast<size_t>(budget_));
  const size_t before = plan_.items.size();
  plan_.items.resize(before + most);
  StepItem* const items = plan_.items.data() + before;
  Sequence* const* const sequences = running_.data() + first;
  size_t count = 0;
  for (; count < most; ++count) {
    Sequence& sequence = *sequences[count];
    if (sequence.length - sequence.computed != 1) break;
    if (sequence.computed == sequence.room && !cache_.grow(sequence, sequence.length)) break;
    const bool decode = sequence.length > sequence.prompt_tokens;
    items[count] = {&sequence, sequence.computed, 1, 0, true, decode};
    ++sequence.computed;
    sequence.scheduled = 1;
  }
  plan_.items.resize(before + count);
  budget_ -= static_cast<int>(count);
  return count;
}

// Blocks for `count` tokens more of running_[index], at the cost of others; false where it had to
// give way itself. The index follows it when somebody before it leaves.
bool Scheduler::find_room(size_t& index, int count) {
  Sequence& sequence = *running_[index];
  while (!cache_.grow(sequence, sequence.computed + count)) {
    const auto found = victim();
    Sequence& gives_way = **found;
    if (found < running_.begin() + static_cast<std::ptrdiff_t>(index)) {
      drop_item(gives_way);
      --index;
    }
    running_.erase(found);
    preempt(gives_way);
    preempted_ = true;
    if (&gives_way == &sequence) return false;
  }
  return true;
}

std::vector<Sequence*>::iterator Scheduler::victim() {
  switch (options_.policy) {
    case Policy::kFcfs:
      return std::prev(running_.end());
    case Policy::kPriority:
      return std::max_element(running_.begin(), running_.end(),
                              [](Sequence* a, Sequence* b) { return goes_before(*a, *b); });
  }
  return std::prev(running_.end());
}

// Admits from the queue; what holds its head in the end, if anybody is left.
std::optional<Hold> Scheduler::plan_waiting(Nanos now) {
  if (waiting_.empty()) return std::nullopt;
  if (preempted_) return Hold::kPreemption;
  plan_.wake = batch_wait_end(now);
  if (plan_.wake) return Hold::kBatchWait;
  while (!waiting_.empty()) {
    if (budget_ == 0) return Hold::kBudget;
    if (running_.size() == static_cast<size_t>(options_.max_num_seqs)) return Hold::kMaxNumSeqs;
    Sequence& head = waiting_.front();
    if (!fits_group(head)) return Hold::kGroup;
    const Hits& hits = cache_.find(head);
    int count = chunk_of(head.length - hits.tokens());
    // Without chunks a whole step serves even what cannot fit: see enable_chunked_prefill.
    const bool whole_step = budget_ == options_.max_num_batched_tokens;
    if (count > budget_ && !options_.enable_chunked_prefill && !whole_step) return Hold::kBudget;
    count = std::min(count, budget_);
    const int tokens = hits.tokens() + count;
    const int reserve = options_.reserve_full_prompt ? head.length : tokens;
    const int64_t keep_free = running_.empty() ? 0 : watermark_blocks_;
    if (!cache_.admit(head, hits, tokens, reserve, keep_free)) return Hold::kBlocks;
    waiting_.pop();
    admit(head, hits.tokens(), count, now);
  }
  return std::nullopt;
}

// When an idle instance stops waiting for company; absent: it does not wait.
std::optional<Nanos> Scheduler::batch_wait_end(Nanos now) const {
  if (options_.batch_wait_ns == 0 || !running_.empty()) return std::nullopt;
  if (waiting_.size() >= static_cast<size_t>(options_.max_num_seqs)) return std::nullopt;
  Nanos until = kNever;
  Nanos deadline = kNever;
  for (const Sequence* sequence : waiting_.all()) {
    if (sequence->state == State::kPreempted) return std::nullopt;
    until = std::min(until, sequence->arrived + options_.batch_wait_ns);
    deadline = std::min(deadline, sequence->deadline);
  }
  if (until <= now) return std::nullopt;
  return std::min(until, deadline);
}

bool Scheduler::fits_group(const Sequence& head) const {
  if (options_.group_by_length_factor == 0.0) return true;
  const double factor = options_.group_by_length_factor;
  return std::all_of(running_.begin(), running_.end(), [&](const Sequence* other) {
    const auto [shorter, longer] = std::minmax(head.length, other->length);
    return longer <= factor * shorter;
  });
}

// Of tokens that are pending, those that one step may take.
int Scheduler::chunk_of(int pending) const {
  const int most = options_.long_prefill_token_threshold;
  return most > 0 ? std::min(pending, most) : pending;
}

void Scheduler::admit(Sequence& sequence, int hit_tokens, int count, Nanos now) {
  warn_of_wait(sequence, now);
  sequence.waits = waits_until(sequence, now);
  running_.push_back(&sequence);
  sequence.state = State::kRunning;
  sequence.slot = free_slots_.back();
  free_slots_.pop_back();
  sequence.computed = hit_tokens;
  if (!sequence.admitted) {
    sequence.admitted = now;
    sequence.cached_tokens = hit_tokens;
    totals_.cache_queried_tokens += sequence.prompt_tokens;
    totals_.cache_hit_tokens += hit_tokens;
  }
  add_event(Event::Kind::kAdmitted, sequence);
  add_item(sequence, count, hit_tokens);
  if (options_.cache_when == CacheWhen::kScheduled) cache_.register_full(sequence);
}

[[gnu::always_inline]] inline void Scheduler::add_item(Sequence& sequence, int count,
                                                       int hit_tokens) {
  const int pending = sequence.pending();
  const bool decode = pending == 1 && sequence.length > sequence.prompt_tokens;
  plan_.items.push_back(
      {&sequence, sequence.computed, count, hit_tokens, count == pending, decode});
  sequence.computed += count;
  sequence.scheduled = count;
  budget_ -= count;
}

// Takes back what the step under planning has for a sequence.
void Scheduler::drop_item(Sequence& sequence) {
  const auto found = std::find_if(plan_.items.begin(), plan_.items.end(),
                                  [&](const StepItem& item) { return item.sequence == &sequence; });
  HW_ASSERT(found != plan_.items.end());
  plan_.items.erase(found);
  budget_ += std::exchange(sequence.scheduled, 0);
}

void Scheduler::count_step() {
  StepShape& shape = plan_.shape;
  shape.sequences = static_cast<int>(plan_.items.size());
  for (const StepItem& item : plan_.items) {
    const int end = item.start + item.count;
    if (item.decode) ++shape.decode_tokens;
    shape.longest = std::max(shape.longest, end);
    shape.context_tokens += end;
  }
  shape.tokens = options_.max_num_batched_tokens - budget_;
  shape.prefill_tokens = shape.tokens - shape.decode_tokens;
  ++totals_.steps;
  totals_.prefill_tokens += shape.prefill_tokens;
  totals_.decode_tokens += shape.decode_tokens;
  if (plan_.held) ++totals_.held.steps[index_of(*plan_.held)];
}

void Scheduler::warn_of_wait(Sequence& sequence, Nanos now) {
  if (options_.queue_warn_ns == 0 || sequence.warned || sequence.admitted) return;
  if (now - sequence.arrived <= options_.queue_warn_ns) return;
  sequence.warned = true;
  const Waits waits = waits_until(sequence, now);
  Event& event = add_event(Event::Kind::kWaitedLong, sequence);
  event.waited_ns = now - sequence.arrived;
  event.hold = waits.longest();
}

// Of a waiting sequence, the time since it was queued last included.
Waits Scheduler::waits_until(const Sequence& sequence, Nanos now) const {
  Waits waits = sequence.waits;
  if (sequence.fresh) {
    waits.ns[index_of(Hold::kStep)] += std::max(Nanos{0}, now - sequence.queued_since);
    return waits;
  }
  add_difference(waits, totals_.held, sequence.queued_at);
  if (plan_.held) waits.ns[index_of(*plan_.held)] += now - scheduled_at_;
  return waits;
}

// The sequence has left running_.
void Scheduler::preempt(Sequence& sequence) {
  HW_ASSERT(sequence.state == State::kRunning && sequence.scheduled == 0);
  release(sequence);
  sequence.state = State::kPreempted;
  sequence.queued_at = totals_.held;
  ++sequence.preemptions;
  ++totals_.preemptions;
  waiting_.put_back(sequence);
  add_event(Event::Kind::kPreempted, sequence);
}

// The one place where a running sequence loses its blocks and its slot.
void Scheduler::release(Sequence& sequence) {
  cache_.release(sequence);
  sequence.computed = 0;
  sequence.scheduled = 0;
  released_.push_back(sequence.slot);
  free_slots_.push_back(std::exchange(sequence.slot, -1));
  settled_ = false;
}

void Scheduler::apply(const StepResult& result, Nanos now) {
  auto next = result.sampled.begin();
  const auto draw = [&] {
    HW_ASSERT(next != result.sampled.end());
    return *next++;
  };
  apply_items(result.outcome, draw, now);
  HW_ASSERT(next == result.sampled.end());
  check();
}

void Scheduler::apply_blank(Nanos now) {
  apply_items(StepOutcome::kDone, [] { return SampledToken(); }, now);
  check();
}

template <class Draw>
void Scheduler::apply_items(StepOutcome outcome, Draw draw, Nanos now) {
  HW_ASSERT(executing_);
  executing_ = false;
  sweeping_ = true;
  const size_t live_before = by_number_.size();
  const bool done = outcome == StepOutcome::kDone;
  const bool keep = done && options_.cache_when == CacheWhen::kComputed;
  for (const StepItem& item : plan_.items) {
    Sequence& sequence = own(item);
    sequence.scheduled = 0;
    SampledToken token;
    if (done && item.sample) token = draw();
    if (keep) cache_.register_full(sequence);
    if (!done) cache_.forget_from(sequence, item.start);
    if (sequence.finish_after_step) {
      end(sequence, *sequence.finish_after_step, now);
    } else if (!done) {
      end(sequence, FinishReason::kError, now);
    } else if (item.sample) {
      take_token(sequence, token, now);
    }
  }
  sweeping_ = false;
  if (by_number_.size() != live_before) {
    std::erase_if(running_, [](const Sequence* s) { return s->over(); });
  }
  expire(now);
}

[[gnu::always_inline]] inline void Scheduler::take_token(Sequence& sequence,
                                                         const SampledToken& token, Nanos now) {
  ++sequence.length;
  ++totals_.sampled_tokens;
  if (!sequence.first_token) sequence.first_token = now;
  sequence.last_token = now;
  if (sequence.has_content) {
    sequence.tokens.push_back(token.token);
    cache_.hash_output(sequence);
  }
  const bool may_end = token.ends || sequence.has_stop_tokens;
  const bool ends = may_end && ends_answer(sequence, token);
  if (options_.token_events) {
    add_event(Event::Kind::kToken, sequence).token = {token.token, ends};
  }
  if (ends) {
    end(sequence, FinishReason::kStop, now);
  } else if (sequence.length >= sequence.length_end) {
    end(sequence, FinishReason::kLength, now);
  }
}

// In vLLM's order: the least length, the end token, the stop tokens.
bool Scheduler::ends_answer(const Sequence& sequence, const SampledToken& token) const {
  const Request& request = sequence.request;
  if (sequence.output_tokens() < request.output_tokens_min) return false;
  if (token.ends && !request.ignore_end) return true;
  return std::find(request.stop_tokens.begin(), request.stop_tokens.end(), token.token) !=
         request.stop_tokens.end();
}

// The one way out, from any state.
void Scheduler::end(Sequence& sequence, FinishReason reason, Nanos now) {
  HW_ASSERT(sequence.scheduled == 0 && !sequence.over());
  if (sequence.state == State::kRunning) {
    if (forgotten_releases_ > 0) forget_release(sequence);
    release(sequence);
    if (!sweeping_) std::erase(running_, &sequence);
  } else {
    warn_of_wait(sequence, now);
    sequence.waits = waits_until(sequence, now);
    if (std::exchange(sequence.fresh, false)) std::erase(fresh_, &sequence);
    waiting_.erase(sequence);
    settled_ = false;
  }
  sequence.state = State::kFinished;
  sequence.finished = now;
  sequence.finish_reason = reason;
  add_event(Event::Kind::kFinished, sequence);
  by_number_.erase(sequence.number);
  ended_.push_back(&sequence);
}

void Scheduler::lose_backend(Nanos now) {
  if (std::exchange(executing_, false)) {
    for (const StepItem& item : plan_.items) own(item).scheduled = 0;
    for (const StepItem& item : plan_.items) {
      Sequence& sequence = own(item);
      if (sequence.finish_after_step) end(sequence, *sequence.finish_after_step, now);
    }
  }
  while (!running_.empty()) {
    Sequence& last = *running_.back();
    running_.pop_back();
    preempt(last);
    mark_fresh(last, now);
  }
  cache_.forget_all();
  check();
}

bool Scheduler::reset_prefix_cache() {
  if (cache_.pool().used_blocks() > 0) return false;
  cache_.forget_all();
  check();
  return true;
}

// The blocks keep their references, and nobody knows them any more.
void Scheduler::forget_release(Sequence& sequence) {
  --forgotten_releases_;
  blocks_lost_ = blocks_lost_ || !sequence.blocks.empty();
  sequence.blocks.clear();
}

void Scheduler::lose_blocks(int64_t count) {
  blocks_lost_ = blocks_lost_ || count > 0;
  cache_.lose_blocks(count);
  settled_ = false;
}

int64_t Scheduler::reclaim_blocks() {
  std::vector<int> held(static_cast<size_t>(cache_.pool().usable_blocks()) + 1);
  for (const Sequence* sequence : running_) {
    for (const BlockId block : sequence->blocks) ++held[static_cast<size_t>(block)];
  }
  const int64_t freed = cache_.reclaim(held);
  blocks_lost_ = false;
  settled_ = false;
  check();
  return freed;
}

void Scheduler::take_events(std::vector<Event>& events) {
  events.clear();
  events.swap(events_);
  for (Sequence* sequence : handed_) {
    recycle(*sequence);
    spare_.push_back(sequence);
  }
  handed_.clear();
  handed_.swap(ended_);
}

Event& Scheduler::add_event(Event::Kind kind, const Sequence& sequence) {
  Event& event = events_.emplace_back();
  event.kind = kind;
  event.sequence = &sequence;
  return event;
}

Sequence& Scheduler::new_sequence() {
  if (spare_.empty()) return storage_.emplace_back();
  Sequence& sequence = *spare_.back();
  spare_.pop_back();
  return sequence;
}

Load Scheduler::load() const {
  return {static_cast<int>(running_.size()), static_cast<int>(waiting_.size()),
          cache_.pool().used_blocks(), cache_.pool().usable_blocks()};
}

const Sequence* Scheduler::find(RequestNumber number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second;
}

std::vector<const Sequence*> Scheduler::waiting() const {
  const std::vector<Sequence*> ordered = waiting_.ordered();
  return {ordered.begin(), ordered.end()};
}

std::optional<Nanos> Scheduler::next_deadline() const {
  if (earliest_deadline_ == kNever) return std::nullopt;
  return earliest_deadline_;
}

#ifdef HEADWAY_CHECK_INVARIANTS
// After every change; of large pools after some, so that a change costs a thousand blocks' look.
void Scheduler::check() {
  constexpr int64_t kBlocksEachTime = 1024;
  if (blocks_lost_ || ++changes_ % (options_.kv_blocks / kBlocksEachTime + 1) != 0) return;
  const std::string broken = broken_invariant(*this);
  if (!broken.empty()) assert_failed(broken.c_str(), __FILE__, __LINE__);
}
#else
void Scheduler::check() {}
#endif

}  // namespace hw::scheduler
