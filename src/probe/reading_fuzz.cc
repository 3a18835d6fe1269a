// Bodies of answers from anywhere: read as every dialect, and as a list of models.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "probe/reading.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (int i = 0; i < kDialectCount; ++i) {
    const probe::Reading reading = probe::read_body(static_cast<Dialect>(i), body);
    HW_ASSERT(!reading.answers() || reading.kind == probe::BodyKind::kJson);
    HW_ASSERT(reading.excerpt.size() <= 1000 && reading.title.size() <= 1000);
    HW_ASSERT(reading.model.size() <= 200);
    static_cast<void>(probe::is_about_model(reading.error, "gpt"));
  }
  HW_ASSERT(probe::read_model_list(body, 5).size() <= 5);
  return 0;
}
