// Opens an instance on a GPU that is not there: which model, which GPU, and what fits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "engine/instance.h"
#include "engine/options.h"
#include "gpu_model/cost.h"

namespace hw::virtual_gpu {

// The GPU that stands where the options name none.
inline constexpr std::string_view kDefaultGpu = "H100";

// The machine that the options describe.
struct Machine {
  gpu_model::ModelShape shape;
  gpu_model::Gpu gpu;
  engine::Limits limits;
  gpu_model::CostOptions cost_options;
  std::vector<std::string> notes;  // what was cut, for the log

  // With the shipped constants.
  gpu_model::StepCost cost() const;
};
// Errors: kConfig where model or GPU are unknown, where the weights do not fit, or as
// engine::resolve_limits(). Reads files.
Result<Machine> plan_machine(const engine::Options& options);

// Errors likewise. Registers its metrics in `registry`, which outlives the instance.
Result<engine::Instance> open_instance(const engine::Options& options, Registry& registry);

}  // namespace hw::virtual_gpu
