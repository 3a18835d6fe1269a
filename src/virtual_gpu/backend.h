// The backend that takes as long as a GPU would and computes nothing.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/metrics.h"
#include "engine/backend.h"
#include "gpu_model/cost.h"

namespace hw::virtual_gpu {

// How fast it goes and what it says.
struct Settings {
  double speed = 1;         // times real time; above 0
  int answer_tokens = 256;  // median length of an answer that nobody limits; 0: without end
};

// What it counts about itself.
struct PaceMetrics {
  PaceMetrics() = default;
  PaceMetrics(Registry& registry, std::string_view model_id);

  HistogramMetric predicted;  // nanoseconds of a step, as priced, at `speed`
  HistogramMetric late;       // by which a step ended after its time
};

class VirtualGpu final : public engine::Backend {
 public:
  // What the host may do between two steps within the price of the second; more is idleness, and
  // the GPU begins anew.
  static constexpr Nanos kHostMax = 2 * kMillisecond;

  VirtualGpu(gpu_model::StepCost cost, const Settings& settings, const PaceMetrics& metrics);

  // Sleeps until the step's end, an absolute time.
  engine::StepResult execute(const engine::StepPlan& plan) override;
  void interrupt() override;
  Nanos predict(const engine::StepPlan& plan) override;
  Status restart() override;
  // What a step of this plan takes at speed 1.
  Nanos price(const engine::StepPlan& plan);

 private:
  bool sleep_until(Nanos end);

  gpu_model::StepCost cost_;
  const Settings settings_;
  const PaceMetrics metrics_;
  Nanos free_at_ = 0;  // end of the last step
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

}  // namespace hw::virtual_gpu
