// FaultyBackend: a backend around another one that suffers the faults of a schedule.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "engine/backend.h"
#include "faults/schedule.h"

namespace hw::faults {

// Knows nothing of scheduling: what goes wrong, goes wrong where it does with real hardware. It
// waits in real time; an interrupt ends a wait.
class FaultyBackend final : public engine::Backend {
 public:
  FaultyBackend(std::unique_ptr<engine::Backend> backend, const Faults& faults)
      : backend_(std::move(backend)), schedule_(faults) {}

  engine::StepResult execute(const engine::StepPlan& plan) override;
  void interrupt() override;
  // By the price of what is behind, for a GPU as it should be.
  Nanos predict(const engine::StepPlan& plan) override { return backend_->predict(plan); }
  // The new worker is a sound one: all faults are over.
  Status restart() override;
  // Other faults from the next step on, those of the schedule. From any thread.
  void replace(const Faults& faults);

 private:
  Harm next_harm(const engine::StepPlan& plan);
  void hog(int64_t bytes);
  bool wait(Nanos delay_ns);

  const std::unique_ptr<engine::Backend> backend_;
  std::deque<std::string> hogged_;  // of the engine's thread
  int64_t hogged_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Schedule schedule_;  // under mutex_, as the next
  bool interrupted_ = false;
};

}  // namespace hw::faults
