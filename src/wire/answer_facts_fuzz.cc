// Any body as an answer and as an error: facts or an error with a printable excerpt, within bounds.
#include <cstdint>

#include "base/assert.h"
#include "wire/answer_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw::wire;
  if (size < 1) return 0;
  const auto dialect = static_cast<hw::Dialect>(data[0] % hw::kDialectCount);
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto facts = scan_answer(dialect, body);
  if (facts) {
    HW_ASSERT(facts->id.size() <= 128);
    HW_ASSERT(facts->output_bytes <= size);
    HW_ASSERT(facts->usage.input >= 0 && facts->usage.output >= 0);
  } else {
    HW_ASSERT(facts.error().code == hw::ErrorCode::kUpstreamDialect);
    HW_ASSERT(facts.error().message.size() < 1000);
  }
  const UpstreamErrorBody error = read_error_body(hw::family_of(dialect), body);
  HW_ASSERT(error.words.message.size() <= kErrorMessageBytesMax);
  HW_ASSERT((error.shape == ErrorShape::kNone) || !error.words.message.empty());
  return 0;
}
