// A ModelShape out of the header of a GGUF file.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "gpu_model/shape.h"

namespace hw::gpu_model {

// As much of a file's beginning as is looked at: headers hold the vocabulary, a few MiB.
inline constexpr size_t kGgufHeaderBytesMax = 64 << 20;

// Reads the header's key-value pairs (GGUF versions 2 and 3, little endian;
// github.com/ggml-org/ggml/blob/master/docs/gguf.md). `head` is the file's beginning, up to
// kGgufHeaderBytesMax; `file_bytes` the whole size, which is taken as that of the weights. kConfig
// where it is no GGUF, a length runs past `head`, or a key that is needed is missing.
Result<ModelShape> read_gguf(std::string_view head, uint64_t file_bytes, std::string_view name);

}  // namespace hw::gpu_model
