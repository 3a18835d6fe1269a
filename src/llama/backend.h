// The backend that computes with llama.cpp on the CPU.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/backend.h"
#include "engine/limits.h"
#include "llama/library.h"
#include "llama/prefix_lanes.h"

namespace hw::llama {

// The scheduler's slots are llama.cpp's sequences; behind them are the lanes, sequences that keep
// cached blocks. A hit is copied from its lanes, block by block; a cached block that is dropped is
// taken out of its lane. Cells are shared, so the context never holds more of them than the
// scheduler counts.
class CpuBackend final : public engine::Backend {
 public:
  // A context with room for limits.sequences_max() + limits.prefix_lanes() sequences.
  CpuBackend(std::shared_ptr<const Weights> weights, std::unique_ptr<Context> context,
             const engine::Limits& limits, const ContextSettings& settings)
      : weights_(std::move(weights)),
        settings_(settings),
        context_(std::move(context)),
        first_lane_(limits.sequences_max()),
        lane_count_(limits.prefix_lanes()),
        lanes_(lane_count_) {}

  engine::StepResult execute(const engine::StepPlan& plan) override;
  void interrupt() override;
  // A new context on the same weights.
  Status restart() override;

 private:
  void follow(const engine::CacheChange& change);
  void copy_hits(const engine::StepItem& item);

  std::shared_ptr<const Weights> weights_;  // before the context, which must end first
  ContextSettings settings_;
  std::unique_ptr<Context> context_;
  std::mutex mutex_;  // of the pointer, between interrupt() and restart()
  int first_lane_;
  int lane_count_;
  PrefixLanes lanes_;
  std::vector<StepToken> tokens_;  // kept for its room
};

}  // namespace hw::llama
