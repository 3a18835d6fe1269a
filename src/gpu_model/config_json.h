// A ModelShape out of a Hugging Face config.json.
#pragma once

#include <string_view>

#include "base/result.h"
#include "gpu_model/shape.h"

namespace hw::gpu_model {

// Longest config.json that is read; real ones have a few KiB.
inline constexpr size_t kConfigBytesMax = 4 << 20;

// Reads the fields that decide size and cost; of a multimodal model those inside `text_config`.
// kConfig where the text is no JSON, a field is missing, or the model is of a kind whose state is
// no KV cache of tokens alone (Mamba, linear attention).
Result<ModelShape> read_config_json(std::string_view text, std::string_view name);

}  // namespace hw::gpu_model
