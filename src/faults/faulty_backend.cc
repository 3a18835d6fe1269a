#include "faults/faulty_backend.h"

#include <algorithm>
#include <chrono>

namespace hw::faults {

engine::StepResult FaultyBackend::execute(const engine::StepPlan& plan) {
  // Slots are emptied and blocks dropped even where nothing is computed.
  if (plan.items.empty()) return backend_->execute(plan);
  const Harm harm = next_harm(plan);
  hog(harm.memory_bytes);
  engine::StepResult result;
  if (!wait(harm.delay_ns)) {
    result.outcome = engine::StepOutcome::kInterrupted;
    return result;
  }
  const Nanos began = monotonic_ns();
  result = backend_->execute(plan);
  const Nanos took = monotonic_ns() - began;
  if (!wait(static_cast<Nanos>(static_cast<double>(took) * (harm.factor - 1.0)))) {
    result = {};
    result.outcome = engine::StepOutcome::kInterrupted;
  } else if (harm.fails && result.outcome == engine::StepOutcome::kDone) {
    // It was computed all the same, so that the backend's books stay right.
    result = {};
    result.outcome = engine::StepOutcome::kFailed;
    result.error = "a fault on purpose";
  }
  return result;
}

void FaultyBackend::interrupt() {
  {
    // Both in one, or a restart() between them would leave one of them behind.
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    backend_->interrupt();
  }
  changed_.notify_all();
}

Status FaultyBackend::restart() {
  hogged_.clear();
  hogged_bytes_ = 0;
  const std::lock_guard lock(mutex_);
  interrupted_ = false;
  schedule_.replace({});
  return backend_->restart();
}

void FaultyBackend::replace(const Faults& faults) {
  const std::lock_guard lock(mutex_);
  schedule_.replace(faults);
}

Harm FaultyBackend::next_harm(const engine::StepPlan& plan) {
  const bool first_token =
      std::any_of(plan.items.begin(), plan.items.end(),
                  [](const engine::StepItem& item) { return item.sample && item.output.empty(); });
  const std::lock_guard lock(mutex_);
  return schedule_.next(first_token);
}

// Pages count as resident once they are written.
void FaultyBackend::hog(int64_t bytes) {
  if (bytes == 0 || hogged_bytes_ + bytes > kHoggedBytesMax) return;
  hogged_.emplace_back(static_cast<size_t>(bytes), 'x');
  hogged_bytes_ += bytes;
}

// False where it was interrupted.
bool FaultyBackend::wait(Nanos delay_ns) {
  std::unique_lock lock(mutex_);
  if (delay_ns <= 0) return !interrupted_;
  return !changed_.wait_for(lock, std::chrono::nanoseconds(delay_ns),
                            [this] { return interrupted_; });
}

}  // namespace hw::faults
