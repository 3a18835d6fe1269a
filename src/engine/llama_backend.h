// The backend that computes with llama.cpp on the CPU.
#pragma once

#include <memory>
#include <vector>

#include "engine/backend.h"
#include "engine/llama_library.h"

namespace hw::engine {

// The scheduler's slots are llama.cpp's sequence ids.
class LlamaBackend final : public Backend {
 public:
  // The weights outlive it.
  LlamaBackend(const LlamaWeights& weights, std::unique_ptr<LlamaContext> context)
      : weights_(weights), context_(std::move(context)) {}

  StepResult execute(const StepPlan& plan) override;
  void interrupt() override { context_->interrupt(); }

 private:
  const LlamaWeights& weights_;
  std::unique_ptr<LlamaContext> context_;
  std::vector<LlamaStepToken> tokens_;  // kept for its room
};

}  // namespace hw::engine
