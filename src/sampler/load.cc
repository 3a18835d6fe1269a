#include "sampler/load.h"

#include <algorithm>

#include "base/text.h"

namespace hw::sampler {

using runs::Phase;
namespace {

constexpr net::Signals kOver = 1;

std::optional<double> rate_of(size_t count, std::optional<Nanos> first, std::optional<Nanos> last) {
  if (count < 2 || !first || !last || *last <= *first) return std::nullopt;
  return static_cast<double>(count - 1) * 1e9 / static_cast<double>(*last - *first);
}

}  // namespace

std::optional<double> Pace::rate_due() const {
  return rate_of(due, first_due, last_due);
}
std::optional<double> Pace::rate_sent() const {
  return rate_of(sent, first_sent, last_sent);
}

Load::Load(net::Loop& loop, Client& client, const Target& target, PromptSource& prompts,
           const LoadPlan& plan, std::function<void(Job&)> on_done)
    : loop_(loop),
      client_(client),
      target_(target),
      prompts_(prompts),
      plan_(plan),
      on_done_(std::move(on_done)),
      event_(loop),
      timer_(loop, [this] { on_due(); }) {
  if (plan_.arrivals) schedule_.emplace(*plan_.arrivals);
}

net::Task<void> Load::run() {
  go_on();
  co_await event_.wait(kOver);
}

void Load::stop() {
  if (through_) return;
  stopped_ = true;
  next_.reset();
  for (std::unique_ptr<Job>& job : waiting_) {
    job->record.outcome = runs::RequestOutcome::kCancelled;
    if (job->record.phase == Phase::kSteady) --steady_open_;
    on_done_(*job);
  }
  waiting_.clear();
  client_.cut(AnswerEnd::kCancelled, "");
  go_on();
}

// What is to be done now, after anything has changed.
void Load::go_on() {
  if (through_) return;
  if (!stopped_) {
    fill_warmup();
    if (!on_timeline_ && warmup_begun_ == plan_.warmup_requests && warmup_open_ == 0) {
      begin_timeline();
    }
    if (on_timeline_) watch_drain(monotonic_ns());
    if (on_timeline_ && !schedule_) fill_closed();
  }
  if (!is_over()) return;
  through_ = true;
  event_.raise_later(kOver);
}

bool Load::is_over() const {
  if (under_way_ > 0) return false;
  return stopped_ || (steady_ended_ && steady_open_ == 0);
}

void Load::fill_warmup() {
  const size_t together = std::max<size_t>(plan_.concurrency, 1);
  while (warmup_begun_ < plan_.warmup_requests && warmup_open_ < together) {
    ++warmup_begun_;
    ++warmup_open_;
    launch(make_job(Phase::kWarmup, monotonic_ns()));
  }
}

void Load::begin_timeline() {
  on_timeline_ = true;
  begun_at_ = monotonic_ns();
  if (schedule_) prepare_next();
  arm();
}

Phase Load::phase_of(Nanos offset) const {
  if (steady_ended_) return Phase::kDrain;
  if (offset < plan_.warmup_ns) return Phase::kWarmup;
  return offset < plan_.warmup_ns + plan_.ramp_ns ? Phase::kRamp : Phase::kSteady;
}

std::unique_ptr<Job> Load::make_job(Phase phase, Nanos due) {
  auto job = std::make_unique<Job>();
  const Prompt prompt = prompts_.next();
  job->delivery = plan_.delivery;
  job->bytes = target_.compose(prompt, plan_.delivery);
  job->record.id = concat("sample-", ++numbered_);
  job->record.bucket = prompt.bucket;
  job->record.phase = phase;
  job->record.t_sched = due;
  return job;
}

void Load::note_due(const Job& job) {
  if (job.record.phase != Phase::kSteady) return;
  ++steady_begun_;
  ++steady_open_;
  ++pace_.due;
  if (!pace_.first_due) pace_.first_due = job.record.t_sched;
  pace_.last_due = job.record.t_sched;
  if (plan_.requests > 0 && steady_begun_ == plan_.requests) end_steady();
}

void Load::end_steady() {
  steady_ended_ = true;
  steady_ended_at_ = monotonic_ns();
  arm();
}

void Load::launch(std::unique_ptr<Job> job) {
  ++under_way_;
  loop_.spawn(perform(std::move(job)));
}

net::Task<void> Load::perform(std::unique_ptr<Job> job) {
  runs::Record& record = job->record;
  record.t_disp = monotonic_ns();
  if (record.phase == Phase::kSteady) {
    const Nanos lag = *record.t_disp - *record.t_sched;
    pace_.lag.record(lag);
    pace_.late_1ms += lag > kMillisecond ? 1 : 0;
    pace_.late_10ms += lag > 10 * kMillisecond ? 1 : 0;
    pace_.late_100ms += lag > 100 * kMillisecond ? 1 : 0;
  }
  co_await client_.perform(*job);
  finish(*job);
}

void Load::finish(Job& job) {
  --under_way_;
  if (job.record.phase == Phase::kWarmup && !on_timeline_) --warmup_open_;
  if (job.record.phase == Phase::kSteady) {
    --steady_open_;
    if (job.record.t_tx0) {
      ++pace_.sent;
      if (!pace_.first_sent || *job.record.t_tx0 < *pace_.first_sent) {
        pace_.first_sent = job.record.t_tx0;
      }
      pace_.last_sent = std::max(pace_.last_sent.value_or(0), *job.record.t_tx0);
    }
  }
  on_done_(job);
  if (!waiting_.empty() && !stopped_ && under_way_ < plan_.concurrency) {
    std::unique_ptr<Job> next = std::move(waiting_.front());
    waiting_.pop_front();
    launch(std::move(next));
  }
  go_on();
}

// How many requests a closed loop has under way now: during the ramp, one more at a time.
size_t Load::places(Nanos now) const {
  const size_t all = std::max<size_t>(plan_.concurrency, 1);
  const Nanos into = now - begun_at_ - plan_.warmup_ns;
  if (plan_.ramp_ns <= 0 || into >= plan_.ramp_ns) return all;
  if (into <= 0) return 1;
  return 1 + static_cast<size_t>(static_cast<double>(all - 1) * static_cast<double>(into) /
                                 static_cast<double>(plan_.ramp_ns));
}

void Load::fill_closed() {
  const Nanos now = monotonic_ns();
  while (under_way_ < places(now) && !is_over()) {
    // Nothing is offered beside the last measured request where it is alone anyway.
    if (steady_ended_ && (steady_open_ == 0 || plan_.concurrency <= 1)) return;
    const Nanos due = monotonic_ns();
    std::unique_ptr<Job> job = make_job(phase_of(due - begun_at_), due);
    note_due(*job);
    launch(std::move(job));
  }
}

// An open loop: the request that is due next, composed already.
void Load::prepare_next() {
  const Nanos offset = schedule_->next();
  next_ = make_job(phase_of(offset), begun_at_ + offset);
}

void Load::arm() {
  Nanos at = INT64_MAX;
  if (next_ != nullptr) at = *next_->record.t_sched;
  const Nanos steady_from = begun_at_ + plan_.warmup_ns + plan_.ramp_ns;
  if (!steady_ended_ && plan_.steady_ns > 0) at = std::min(at, steady_from + plan_.steady_ns);
  if (steady_ended_) at = std::min(at, steady_ended_at_ + plan_.grace_ns);
  const Nanos now = monotonic_ns();
  // A closed loop's ramp has no arrivals to wake it.
  constexpr Nanos kRampStep = 10 * kMillisecond;
  if (!schedule_ && now < steady_from) at = std::min(at, now + kRampStep);
  if (at == INT64_MAX) return;
  armed_for_ = at;
  timer_.arm(at);
}

void Load::on_due() {
  if (through_ || stopped_) return;
  const Nanos now = monotonic_ns();
  pace_.timer.record(now - armed_for_);
  take_due(now);
  go_on();
  if (!through_) arm();
}

void Load::take_due(Nanos now) {
  const Nanos steady_end = begun_at_ + plan_.warmup_ns + plan_.ramp_ns +
                           (plan_.steady_ns > 0 ? plan_.steady_ns : INT64_MAX / 4);
  while (next_ != nullptr && *next_->record.t_sched <= now) {
    if (!steady_ended_ && *next_->record.t_sched >= steady_end) end_steady();
    if (steady_ended_) next_->record.phase = Phase::kDrain;
    std::unique_ptr<Job> job = std::move(next_);
    note_due(*job);
    admit(std::move(job));
    prepare_next();
  }
  if (!steady_ended_ && now >= steady_end) end_steady();
}

void Load::admit(std::unique_ptr<Job> job) {
  const bool full = plan_.concurrency > 0 && under_way_ >= plan_.concurrency;
  if (!full && waiting_.empty()) return launch(std::move(job));
  if (plan_.on_cap == OnCap::kDrop || waiting_.size() >= kWaitingMax) return drop(std::move(job));
  waiting_.push_back(std::move(job));
}

void Load::drop(std::unique_ptr<Job> job) {
  job->record.outcome = runs::RequestOutcome::kDropped;
  job->record.error_class = "cap";
  if (job->record.phase == Phase::kSteady) --steady_open_;
  on_done_(*job);
}

// The measured requests are followed to their ends under the same load; then all others are cut.
void Load::watch_drain(Nanos now) {
  if (!steady_ended_) return;
  if (steady_open_ > 0) {
    if (now < steady_ended_at_ + plan_.grace_ns) return;
    client_.cut(Phase::kSteady, AnswerEnd::kTimeout, "grace");
  }
  next_.reset();
  // Those of the steady phase that still wait for a place have waited for all of the grace.
  while (!waiting_.empty()) {
    std::unique_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    if (job->record.phase != Phase::kSteady) continue;
    job->record.outcome = runs::RequestOutcome::kTimeout;
    job->record.error_class = "grace";
    job->record.t_close = now;
    --steady_open_;
    on_done_(*job);
  }
  for (const Phase phase : {Phase::kWarmup, Phase::kRamp, Phase::kDrain}) {
    client_.cut(phase, AnswerEnd::kCancelled, "");
  }
}

}  // namespace hw::sampler
