#include "gpu_model/shape_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "gpu_model/catalogue.h"
#include "gpu_model/config_json.h"
#include "gpu_model/gguf.h"

namespace hw::gpu_model {
namespace {

// The beginning of a file, up to `bytes_max`; false where it cannot be read.
bool read_start(const std::string& path, size_t bytes_max, std::string& out) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  out.resize(ignored ? 0 : std::min<uintmax_t>(size, bytes_max));
  file.read(out.data(), static_cast<std::streamsize>(out.size()));
  return file.good() && !out.empty();
}

}  // namespace

Result<ModelShape> open_shape(const std::string& name_or_path) {
  const bool gguf = name_or_path.ends_with(".gguf");
  if (!gguf && !name_or_path.ends_with(".json")) return find_model(name_or_path);
  std::string text;
  if (!read_start(name_or_path, gguf ? kGgufHeaderBytesMax : kConfigBytesMax + 1, text)) {
    return fail(ErrorCode::kConfig, concat(name_or_path, " cannot be read"));
  }
  if (!gguf) return read_config_json(text, name_or_path);
  std::error_code ignored;
  return read_gguf(text, std::filesystem::file_size(name_or_path, ignored), name_or_path);
}

}  // namespace hw::gpu_model
