// Any bytes as responses, said in chat and in messages.
#include "translate/dialect_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hw::translate::DialectFuzzing(hw::Dialect::kOpenaiResponses).run(data, size);
  return 0;
}
