#include "engine/core.h"

#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"

namespace hw::engine {
namespace {

void record_if(const HistogramMetric& histogram, const std::optional<Nanos>& ns) {
  if (ns) histogram.record(*ns);
}

}  // namespace

Core::Core(const Limits& limits, const Tokenizer& tokenizer, const EngineMetrics& metrics,
           EngineLog* log)
    : tokenizer_(tokenizer), scheduler_(limits.scheduling), metrics_(metrics), log_(log) {}

void Core::add(RequestNumber number, Request request, std::shared_ptr<Sink> sink, Nanos arrived) {
  std::string id = request.id.empty() ? std::to_string(number) : std::move(request.id);
  answers_.emplace(number, Answer{OutputText(request.stop), std::move(id), request.sampling,
                                  std::move(sink), arrived, 0, 0, std::nullopt});
  scheduler::Request wish;
  wish.number = number;
  wish.prompt = std::move(request.prompt);
  wish.output_tokens_max = request.output_tokens_max;
  wish.ignore_end = request.ignore_end;
  wish.priority = request.priority;
  wish.cache_salt = std::move(request.cache_salt);
  wish.arrived = arrived;
  const Status added = scheduler_.add(std::move(wish));
  HW_ASSERT(added.has_value());
}

void Core::abort(RequestNumber number, Nanos now) {
  scheduler_.finish(number, FinishReason::kAborted, now);
  gather(now);
}

int Core::listened() const {
  int count = 0;
  for (const auto& [number, answer] : answers_) {
    if (answer.sink.use_count() > 1 && scheduler_.find(number) != nullptr) ++count;
  }
  return count;
}

void Core::evict(RequestNumber number, Nanos now) {
  scheduler_.finish(number, FinishReason::kError, now);
  gather(now);
}

int Core::abort_id(std::string_view id, Nanos now) {
  std::vector<RequestNumber> numbers;
  for (const auto& [number, answer] : answers_) {
    if (answer.id == id) numbers.push_back(number);
  }
  for (const RequestNumber number : numbers) abort(number, now);
  return static_cast<int>(numbers.size());
}

void Core::fail_running(Nanos now) {
  std::vector<RequestNumber> numbers;
  for (const scheduler::Sequence* sequence : scheduler_.running()) {
    numbers.push_back(sequence->number);
  }
  for (const RequestNumber number : numbers) scheduler_.finish(number, FinishReason::kError, now);
  gather(now);
}

void Core::lose_backend(Nanos now) {
  scheduler_.lose_backend(now);
  plan_.items.clear();
  gather(now);
}

// Of the next one that ends, it is drawn now.
void Core::leak(double share) {
  leak_share_ = share;
  if (leak_share_ > 0 && fault_random_.unit() < leak_share_) scheduler_.forget_releases(1);
}

void Core::lose_blocks(double share) {
  const int64_t usable = scheduler_.cache().pool().usable_blocks();
  scheduler_.lose_blocks(static_cast<int64_t>(share * static_cast<double>(usable)));
}

void Core::abort_all(Nanos now) {
  std::vector<RequestNumber> numbers;
  for (const auto& [number, answer] : answers_) numbers.push_back(number);
  for (const RequestNumber number : numbers) abort(number, now);
}

const StepPlan& Core::plan(Nanos now) {
  take_over(scheduler_.schedule(now));
  step_began_ = now;
  if (!plan_.items.empty()) metrics_.step_tokens.record(plan_.shape.tokens);
  count_held();
  gather(now);
  return plan_;
}

// The scheduler's plan with what the backend wants to know beside it.
void Core::take_over(const scheduler::StepPlan& plan) {
  plan_.cache_changes = plan.cache_changes;
  plan_.release = plan.released;
  plan_.shape = plan.shape;
  plan_.wake = plan.wake;
  plan_.items.clear();
  for (const scheduler::StepItem& from : plan.items) {
    const scheduler::Sequence& sequence = *from.sequence;
    const std::span<const Token> tokens(sequence.tokens);
    const auto found = answers_.find(sequence.number);
    HW_ASSERT(found != answers_.end());
    StepItem& item = plan_.items.emplace_back();
    item.sequence = sequence.number;
    item.slot = sequence.slot;
    item.start = from.start;
    item.tokens = tokens.subspan(static_cast<size_t>(from.start), static_cast<size_t>(from.count));
    item.hit_tokens = from.hit_tokens;
    item.blocks = sequence.blocks;
    item.sample = from.sample;
    item.prompt = tokens.first(static_cast<size_t>(sequence.prompt_tokens));
    item.output = tokens.subspan(static_cast<size_t>(sequence.prompt_tokens));
    item.sampling = &found->second.sampling;
  }
}

void Core::complete(const StepResult& result, Nanos now) {
  if (plan_.items.empty()) return;  // slots were emptied, nothing was computed
  metrics_.step.record(now - step_began_);
  if (result.outcome == StepOutcome::kFailed) {
    metrics_.failed_steps.add();
    log_error("engine", concat("a step failed: ", result.error));
  }
  const bool done = result.outcome == StepOutcome::kDone;
  result_.outcome = done ? scheduler::StepOutcome::kDone : scheduler::StepOutcome::kFailed;
  result_.sampled.clear();
  auto sampled = result.sampled.begin();
  for (const StepItem& item : plan_.items) {
    if (!done || !item.sample) continue;
    HW_ASSERT(sampled != result.sampled.end() && sampled->sequence == item.sequence);
    result_.sampled.push_back({sampled->token, sampled->ends});
    ++sampled;
  }
  HW_ASSERT(sampled == result.sampled.end());
  scheduler_.apply(result_, now);
  gather(now);
}

// Adds what the scheduler has counted since the last time.
void Core::count_held() {
  const scheduler::Totals& totals = scheduler_.totals();
  metrics_.cache_queries.add(totals.cache_queried_tokens - counted_.cache_queried_tokens);
  metrics_.cache_hits.add(totals.cache_hit_tokens - counted_.cache_hit_tokens);
  for (size_t i = 0; i < scheduler::kHoldCount; ++i) {
    metrics_.held_steps[i].add(totals.held.steps[i] - counted_.held.steps[i]);
  }
  counted_ = totals;
}

std::vector<Delivery> Core::take_deliveries() {
  std::vector<Delivery> deliveries;
  for (const RequestNumber number : std::exchange(touched_, {})) {
    const auto found = answers_.find(number);
    HW_ASSERT(found != answers_.end() && found->second.news.has_value());
    Answer& answer = found->second;
    deliveries.push_back({answer.sink, *std::exchange(answer.news, std::nullopt)});
    if (deliveries.back().update.ending) answers_.erase(found);
  }
  return deliveries;
}

// A stop string in a token's text ends the sequence, which makes more events.
void Core::gather(Nanos now) {
  for (scheduler_.take_events(events_); !events_.empty(); scheduler_.take_events(events_)) {
    for (const scheduler::Event& event : events_) hear(event, now);
  }
}

void Core::hear(const scheduler::Event& event, Nanos now) {
  const auto found = answers_.find(event.sequence->number);
  HW_ASSERT(found != answers_.end());
  Answer& answer = found->second;
  switch (event.kind) {
    case scheduler::Event::Kind::kAdmitted:
      break;
    case scheduler::Event::Kind::kToken:
      hear_token(answer, event, now);
      break;
    case scheduler::Event::Kind::kFinished:
      hear_end(answer, *event.sequence);
      break;
    case scheduler::Event::Kind::kPreempted:
      metrics_.preemptions.add();
      break;
    case scheduler::Event::Kind::kWaitedLong:
      warn_of_wait(answer, event);
      break;
  }
}

void Core::hear_token(Answer& answer, const scheduler::Event& event, Nanos now) {
  if (answer.output_tokens++ == 0) {
    metrics_.first_token.record(now - answer.arrived);
  } else {
    metrics_.token_gap.record(now - answer.last_token);
  }
  answer.last_token = now;
  metrics_.generated_tokens.add();
  const RequestNumber number = event.sequence->number;
  Update& news = news_of(number, answer);
  if (event.token.ends) return;
  news.text += answer.text.push(tokenizer_.piece(event.token.token));
  if (answer.text.stopped()) scheduler_.finish(number, FinishReason::kStop, now);
}

void Core::hear_end(Answer& answer, const scheduler::Sequence& sequence) {
  // The length may be reached with the very token that completes a stop string.
  const FinishReason reason = answer.text.stopped() ? FinishReason::kStop : sequence.finish_reason;
  const Record record = record_of(sequence);
  Update& news = news_of(sequence.number, answer);
  news.text += answer.text.flush();
  news.ending = Ending{reason, record};
  if (leak_share_ > 0) leak(leak_share_);
  if (log_ != nullptr) log_->request(answer.id, sequence, wall_ns() - monotonic_ns());
  metrics_.finished[static_cast<size_t>(reason)].add();
  if (record.first_token_ns) metrics_.prompt_tokens.add(record.prompt_tokens);
  metrics_.request.record(record.total_ns);
  record_if(metrics_.queue, record.queue_ns);
  record_if(metrics_.prefill, record.prefill_ns);
  record_if(metrics_.decode, record.decode_ns);
  metrics_.prompt_size.record(record.prompt_tokens);
  metrics_.answer_size.record(record.output_tokens);
  metrics_.answer_longest.record(record.output_tokens);
  metrics_.answers.record(1);
  metrics_.answer_limit.record(sequence.length_end - sequence.prompt_tokens);
  if (record.first_token_ns) {
    metrics_.prompt_computed.record(record.prompt_tokens - record.cached_tokens);
    metrics_.prompt_tokens_computed.add(record.prompt_tokens - record.cached_tokens);
    metrics_.prompt_tokens_cached.add(record.cached_tokens);
    metrics_.prompt_tokens_hit.add(record.cached_tokens);
  }
  if (!record.decode_ns || !record.prefill_ns) return;
  metrics_.inference.record(*record.prefill_ns + *record.decode_ns);
  if (record.output_tokens > 1) {
    metrics_.token_time.record(*record.decode_ns / (record.output_tokens - 1));
  }
}

void Core::warn_of_wait(const Answer& answer, const scheduler::Event& event) const {
  const Load load = scheduler_.load();
  log_warning("engine",
              concat("request ", answer.id, " has waited ", event.waited_ns / kMillisecond,
                     " ms for its first step, longer than queue_warn_ms; held by ",
                     scheduler::hold_name(event.hold), "; running ", load.running, ", waiting ",
                     load.waiting, ", blocks ", load.blocks_used, " of ", load.blocks));
}

Update& Core::news_of(RequestNumber number, Answer& answer) {
  if (!answer.news) {
    answer.news.emplace();
    touched_.push_back(number);
  }
  answer.news->output_tokens = answer.output_tokens;
  return *answer.news;
}

}  // namespace hw::engine
