// Opens an instance on a GPU that is not there: which model, which GPU, and what fits.
#pragma once

#include "base/metrics.h"
#include "base/result.h"
#include "engine/instance.h"
#include "engine/options.h"

namespace hw::virtual_gpu {

// The GPU that stands where the options name none.
inline constexpr std::string_view kDefaultGpu = "H100";

// Errors: kConfig where model or GPU are unknown, where the weights do not fit, or as
// engine::resolve_limits(). Registers its metrics in `registry`, which outlives the instance.
Result<engine::Instance> open_instance(const engine::Options& options, Registry& registry);

}  // namespace hw::virtual_gpu
