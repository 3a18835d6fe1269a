// Where a model's shape comes from: a file that describes it, or the list of those that are known.
#pragma once

#include <string>

#include "base/result.h"
#include "gpu_model/shape.h"

namespace hw::gpu_model {

// Reads a path that ends in ".json" (a config.json of Hugging Face) or ".gguf" (its header), else
// looks the name up, as find_model(). kConfig where that fails. Blocks on the disk.
Result<ModelShape> open_shape(const std::string& name_or_path);

}  // namespace hw::gpu_model
