// The models that are known by name: families of open weights, each with its sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu_model/shape.h"

namespace hw::gpu_model {

// All of them, family by family; numbers as in the config.json published with each.
const std::vector<ModelShape>& known_models();

// By name, without regard to case, publisher ("Qwen/") and the endings "-Instruct", "-it", "-FP8",
// which last makes the weights FP8. kConfig with the nearest names where there is none.
Result<ModelShape> find_model(std::string_view name);

}  // namespace hw::gpu_model
