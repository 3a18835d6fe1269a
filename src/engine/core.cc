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

Core::Core(const Limits& limits, const Tokenizer& tokenizer, const EngineMetrics& metrics)
    : tokenizer_(tokenizer),
      queue_warn_ns_(limits.queue_warn_ns),
      scheduler_(limits),
      metrics_(metrics) {}

void Core::add(RequestNumber number, Request request, std::shared_ptr<Sink> sink, Nanos arrived) {
  answers_.emplace(number,
                   Answer{OutputText(request.stop), std::move(sink), arrived, 0, 0, std::nullopt});
  scheduler_.add(number, std::move(request), arrived);
}

void Core::abort(RequestNumber number, Nanos now) {
  scheduler_.finish(number, FinishReason::kAborted, now);
  gather(now);
}

void Core::abort_all(Nanos now) {
  std::vector<RequestNumber> numbers;
  for (const auto& [number, answer] : answers_) numbers.push_back(number);
  for (const RequestNumber number : numbers) abort(number, now);
}

StepPlan Core::plan(Nanos now) {
  StepPlan plan = scheduler_.schedule(now);
  step_began_ = now;
  if (!plan.items.empty()) metrics_.step_tokens.record(plan.tokens);
  gather(now);
  return plan;
}

void Core::complete(const StepResult& result, Nanos now) {
  metrics_.step.record(now - step_began_);
  if (result.outcome == StepOutcome::kFailed) {
    metrics_.failed_steps.add();
    log_error("engine", concat("a step failed: ", result.error));
  }
  scheduler_.apply(result, now);
  gather(now);
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
  for (auto events = scheduler_.take_events(); !events.empty(); events = scheduler_.take_events()) {
    for (const Event& event : events) hear(event, now);
  }
}

void Core::hear(const Event& event, Nanos now) {
  const auto found = answers_.find(event.sequence);
  HW_ASSERT(found != answers_.end());
  Answer& answer = found->second;
  switch (event.kind) {
    case Event::Kind::kToken:
      hear_token(answer, event, now);
      break;
    case Event::Kind::kFinished:
      hear_end(answer, event);
      break;
    case Event::Kind::kPreempted:
      metrics_.preemptions.add();
      break;
    case Event::Kind::kWaitedLong:
      log_warning(
          "engine",
          concat("request ", event.sequence, " waited ", *event.record.queue_ns / kMillisecond,
                 " ms for its first step, longer than queue_warn_ms; running ",
                 scheduler_.load().running, ", waiting ", scheduler_.load().waiting));
      break;
  }
}

void Core::hear_token(Answer& answer, const Event& event, Nanos now) {
  if (answer.output_tokens++ == 0) {
    metrics_.first_token.record(now - answer.arrived);
  } else {
    metrics_.token_gap.record(now - answer.last_token);
  }
  answer.last_token = now;
  metrics_.generated_tokens.add();
  Update& news = news_of(event.sequence, answer);
  if (event.token.ends) return;
  news.text += answer.text.push(tokenizer_.piece(event.token.token));
  if (answer.text.stopped()) scheduler_.finish(event.sequence, FinishReason::kStop, now);
}

void Core::hear_end(Answer& answer, const Event& event) {
  // The length may be reached with the very token that completes a stop string.
  const FinishReason reason = answer.text.stopped() ? FinishReason::kStop : event.reason;
  const Record& record = event.record;
  Update& news = news_of(event.sequence, answer);
  news.text += answer.text.flush();
  news.ending = Ending{reason, record};
  metrics_.finished[static_cast<size_t>(reason)].add();
  if (record.first_token_ns) metrics_.prompt_tokens.add(record.prompt_tokens);
  metrics_.request.record(record.total_ns);
  record_if(metrics_.queue, record.queue_ns);
  record_if(metrics_.prefill, record.prefill_ns);
  record_if(metrics_.decode, record.decode_ns);
  if (!record.queue_ns && queue_warn_ns_ > 0 && record.total_ns > queue_warn_ns_) {
    log_warning("engine",
                concat("request ", event.sequence, " ended (", finish_reason_name(reason),
                       ") after ", record.total_ns / kMillisecond, " ms without a first step"));
  }
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
