#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace hw {

void assert_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace hw
