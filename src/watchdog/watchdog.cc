#include "watchdog/watchdog.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace hw::watchdog {
namespace {

constexpr double kThousandths = 1000.0;

Alarm make_alarm(Signature signature, int64_t measured, int64_t allowed, Heal heal = Heal::kNone) {
  Alarm alarm;
  alarm.signature = signature;
  alarm.measured = measured;
  alarm.allowed = allowed;
  alarm.heal = heal;
  return alarm;
}

std::string_view unit(Signature signature) {
  switch (signature) {
    case Signature::kBlockDrift:
      return " blocks";
    case Signature::kRequestDrift:
      return " requests";
    case Signature::kOverdue:
    case Signature::kBlockedQueue:
    case Signature::kNoStep:
      return " ns";
    case Signature::kSlowSteps:
      return " thousandths of the prediction";
    case Signature::kThrash:
      return " preemptions";
    case Signature::kMemoryGrowth:
      return " bytes";
  }
  HW_ASSERT(false);
  return {};
}

}  // namespace

std::string_view signature_name(Signature signature) {
  switch (signature) {
    case Signature::kBlockDrift:
      return "block_drift";
    case Signature::kRequestDrift:
      return "request_drift";
    case Signature::kOverdue:
      return "overdue";
    case Signature::kBlockedQueue:
      return "blocked_queue";
    case Signature::kSlowSteps:
      return "slow_steps";
    case Signature::kNoStep:
      return "no_step";
    case Signature::kThrash:
      return "thrash";
    case Signature::kMemoryGrowth:
      return "memory_growth";
  }
  HW_ASSERT(false);
  return {};
}

std::string describe(const Alarm& alarm) {
  std::string line = concat(signature_name(alarm.signature), ": ", alarm.measured,
                            unit(alarm.signature), ", allowed ", alarm.allowed);
  if (!alarm.culprits.empty()) line += "; sequences";
  for (const uint64_t number : alarm.culprits) line += concat(" ", number);
  return line;
}

void Watchdog::step_ended(Nanos real_ns, Nanos predicted_ns) {
  HW_ASSERT(real_ns >= 0 && predicted_ns >= 0);
  if (predicted_ns == 0) return;
  ratios_.push_back(static_cast<double>(real_ns) / static_cast<double>(predicted_ns));
  if (ratios_.size() > static_cast<size_t>(bounds_.slow_window)) ratios_.pop_front();
}

std::vector<Alarm> Watchdog::look(const Snapshot& snapshot) {
  std::vector<Alarm> alarms;
  settle(alarms, block_drift(snapshot), Signature::kBlockDrift);
  settle(alarms, request_drift(snapshot), Signature::kRequestDrift);
  settle(alarms, overdue(snapshot), Signature::kOverdue);
  settle(alarms, blocked_queue(snapshot), Signature::kBlockedQueue);
  settle(alarms, slow_steps(), Signature::kSlowSteps);
  settle(alarms, no_step(snapshot), Signature::kNoStep);
  settle(alarms, thrash(snapshot), Signature::kThrash);
  settle(alarms, memory_growth(snapshot), Signature::kMemoryGrowth);
  return alarms;
}

void Watchdog::settle(std::vector<Alarm>& alarms, std::optional<Alarm> found, Signature signature) {
  const size_t i = index(signature);
  const bool news = found && !active_[i];
  active_[i] = found.has_value();
  if (!news) return;
  ++told_[i];
  alarms.push_back(std::move(*found));
}

std::optional<Alarm> Watchdog::block_drift(const Snapshot& snapshot) {
  const int64_t drift = snapshot.blocks_allocated - snapshot.blocks_live;
  drift_looks_ = drift == 0 ? 0 : drift_looks_ + 1;
  if (drift == 0 || drift_looks_ < bounds_.block_drift_looks) return std::nullopt;
  // Fewer allocated than used is a double free: nothing there is safe to repair.
  return make_alarm(Signature::kBlockDrift, drift, 0,
                    drift > 0 ? Heal::kReclaimBlocks : Heal::kNone);
}

std::optional<Alarm> Watchdog::request_drift(const Snapshot& snapshot) {
  const int64_t drift = snapshot.server_requests - static_cast<int64_t>(snapshot.sequences.size());
  const int sign = drift > 0 ? 1 : drift < 0 ? -1 : 0;
  if (sign == 0 || sign != request_drift_sign_) request_drift_since_ = snapshot.now;
  request_drift_sign_ = sign;
  if (sign == 0 || snapshot.now - *request_drift_since_ < bounds_.request_drift_ns) {
    return std::nullopt;
  }
  return make_alarm(Signature::kRequestDrift, drift, 0);
}

std::optional<Alarm> Watchdog::overdue(const Snapshot& snapshot) const {
  Alarm alarm = make_alarm(Signature::kOverdue, 0, bounds_.overdue_grace_ns, Heal::kEvictSequences);
  for (const SequenceView& sequence : snapshot.sequences) {
    if (sequence.deadline >= snapshot.now - bounds_.overdue_grace_ns) continue;
    alarm.measured = std::max(alarm.measured, snapshot.now - sequence.deadline);
    if (alarm.culprits.size() < kCulpritsMax) alarm.culprits.push_back(sequence.number);
  }
  if (alarm.culprits.empty()) return std::nullopt;
  return alarm;
}

std::optional<Alarm> Watchdog::blocked_queue(const Snapshot& snapshot) {
  const int64_t free = snapshot.blocks - snapshot.blocks_allocated;
  const bool on_purpose = snapshot.holds_until && *snapshot.holds_until >= snapshot.now;
  const bool blocked =
      snapshot.running == 0 && snapshot.waiting > 0 && !on_purpose && free >= snapshot.head_blocks;
  if (!blocked) {
    blocked_looks_ = 0;
    return std::nullopt;
  }
  if (blocked_looks_++ == 0) blocked_since_ = snapshot.now;
  const Nanos since = snapshot.now - blocked_since_;
  if (blocked_looks_ < bounds_.blocked_looks || since < bounds_.blocked_ns) return std::nullopt;
  return make_alarm(Signature::kBlockedQueue, since, bounds_.blocked_ns);
}

std::optional<Alarm> Watchdog::slow_steps() const {
  if (ratios_.size() < static_cast<size_t>(bounds_.slow_window)) return std::nullopt;
  std::vector<double> sorted(ratios_.begin(), ratios_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (*middle <= bounds_.slow_ratio) return std::nullopt;
  return make_alarm(Signature::kSlowSteps, static_cast<int64_t>(*middle * kThousandths),
                    static_cast<int64_t>(bounds_.slow_ratio * kThousandths));
}

std::optional<Alarm> Watchdog::no_step(const Snapshot& snapshot) {
  const bool work = snapshot.running + snapshot.waiting > 0;
  const bool on_purpose = snapshot.holds_until && *snapshot.holds_until >= snapshot.now;
  if (snapshot.steps != steps_seen_ || !work || on_purpose) progress_ = snapshot.now;
  steps_seen_ = snapshot.steps;
  const Nanos allowed = snapshot.predicted_step_ns == 0
                            ? bounds_.no_step_unpredicted_ns
                            : std::max(bounds_.no_step_floor_ns,
                                       bounds_.no_step_predictions * snapshot.predicted_step_ns);
  const Nanos since = snapshot.now - progress_;
  if (since <= allowed) return std::nullopt;
  Alarm alarm = make_alarm(Signature::kNoStep, since, allowed);
  for (const SequenceView& sequence : snapshot.sequences) {
    if (sequence.blocks > 0 && alarm.culprits.size() < kCulpritsMax) {
      alarm.culprits.push_back(sequence.number);
    }
  }
  return alarm;
}

std::optional<Alarm> Watchdog::thrash(const Snapshot& snapshot) {
  const Window now{snapshot.now, snapshot.preemptions, snapshot.completions,
                   snapshot.generated_tokens};
  if (!window_) window_ = now;
  if (snapshot.now - window_->began < bounds_.thrash_window_ns) return thrashing_;
  const Window before = *std::exchange(window_, now);
  const int64_t preemptions = now.preemptions - before.preemptions;
  const int64_t completions = now.completions - before.completions;
  const int64_t tokens = now.tokens - before.tokens;
  const int64_t allowed =
      std::max(bounds_.thrash_preemptions, bounds_.thrash_per_completion * completions);
  const bool fewer =
      static_cast<double>(tokens) < bounds_.thrash_tokens_ratio * static_cast<double>(best_tokens_);
  best_tokens_ = std::max(best_tokens_, tokens);
  thrashing_.reset();
  if (preemptions > allowed && fewer) {
    thrashing_ = make_alarm(Signature::kThrash, preemptions, allowed);
  }
  return thrashing_;
}

// The least of a window hides what requests need for a moment; what leaks stays.
std::optional<Alarm> Watchdog::memory_growth(const Snapshot& snapshot) {
  if (snapshot.rss_bytes == 0) return std::nullopt;
  if (!memory_began_) {
    memory_began_ = snapshot.now;
    memory_least_ = snapshot.rss_bytes;
  }
  if (snapshot.now - *memory_began_ >= bounds_.memory_window_ns) {
    memory_.push_back(std::exchange(memory_least_, snapshot.rss_bytes));
    memory_began_ = snapshot.now;
    if (memory_.size() > static_cast<size_t>(bounds_.memory_windows) + 1) memory_.pop_front();
  }
  memory_least_ = std::min(memory_least_, snapshot.rss_bytes);
  if (memory_.size() <= static_cast<size_t>(bounds_.memory_windows)) return std::nullopt;
  const bool grows =
      std::adjacent_find(memory_.begin(), memory_.end(), std::greater_equal<>()) == memory_.end();
  const int64_t growth = memory_.back() - memory_.front();
  if (!grows || growth < bounds_.memory_growth_bytes) return std::nullopt;
  return make_alarm(Signature::kMemoryGrowth, growth, bounds_.memory_growth_bytes);
}

}  // namespace hw::watchdog
