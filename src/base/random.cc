#include "base/random.h"

#include <sys/random.h>

#include "base/assert.h"

namespace hw {

void secure_random(void* bytes, unsigned long size) {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t got = getrandom(at, size, 0);
    HW_ASSERT(got > 0);
    at += got;
    size -= static_cast<unsigned long>(got);
  }
}

uint64_t random_seed() {
  uint64_t seed;
  secure_random(&seed, sizeof seed);
  return seed;
}

}  // namespace hw
