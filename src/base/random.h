// Randomness behind an interface, so that every rule that draws can be replayed from a seed.
#pragma once

#include <cstdint>

namespace hw {

// One per thread; not thread-safe. SplitMix64 (Steele, Lea, Flood 2014): small, fast, good enough
// for load balancing and ids; secrets come from secure_random().
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound); bound must be above 0.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

// Fills `bytes` from the kernel's generator (getrandom); stops the process where there is none.
void secure_random(void* bytes, unsigned long size);
// A seed for Random from the kernel's generator.
uint64_t random_seed();

}  // namespace hw
