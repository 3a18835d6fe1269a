// Any bytes as chat, said in messages and in responses.
#include "translate/dialect_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hw::translate::DialectFuzzing(hw::Dialect::kOpenaiChat).run(data, size);
  return 0;
}
