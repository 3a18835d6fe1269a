// Whatever a file begins with, reading its header ends, within bounds, in a valid shape or an
// error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "gpu_model/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto shape = hw::gpu_model::read_gguf(bytes, size, "fuzz");
  if (shape.has_value()) HW_ASSERT(hw::gpu_model::validate(*shape).has_value());
  return 0;
}
