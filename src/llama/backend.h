// The backend that computes with llama.cpp on the CPU.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/backend.h"
#include "llama/library.h"

namespace hw::llama {

// The scheduler's slots are llama.cpp's sequence ids.
class CpuBackend final : public engine::Backend {
 public:
  CpuBackend(std::shared_ptr<const Weights> weights, std::unique_ptr<Context> context)
      : weights_(std::move(weights)), context_(std::move(context)) {}

  engine::StepResult execute(const engine::StepPlan& plan) override;
  void interrupt() override { context_->interrupt(); }

 private:
  std::shared_ptr<const Weights> weights_;  // before the context, which must end first
  std::unique_ptr<Context> context_;
  std::vector<StepToken> tokens_;  // kept for its room
};

}  // namespace hw::llama
