// Steps take no memory from the heap once their vectors have grown: the program's operator new is
// replaced by one that counts.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "scheduler/trial.h"

namespace {
int64_t allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace hw::scheduler {
namespace {

// Allocations of the second half of a life in which everyone is computed in chunks, decodes, and
// takes new blocks, with content and a prefix cache or without.
int64_t allocations_of_steps(bool caching) {
  Options options = small_options();
  options.max_num_seqs = 16;
  options.kv_blocks = 600;
  options.enable_prefix_caching = caching;
  options.token_events = false;
  Scheduler scheduler(options);
  for (RequestNumber number = 1; number <= 16; ++number) {
    Request request = prompt_of(100, 400, static_cast<int>(1000 * number));
    request.number = number;
    CHECK(scheduler.add(std::move(request)).has_value());
  }
  Nanos now = 0;
  int64_t before = 0;
  for (int i = 0; i < 400; ++i) {
    if (i == 100) before = allocations;
    scheduler.schedule(now);
    scheduler.apply_blank(++now);
  }
  CHECK(scheduler.load().running == 16);
  return allocations - before;
}

TEST_CASE("a step allocates nothing") {
#ifndef HEADWAY_CHECK_INVARIANTS  // which allocates
  CHECK(allocations_of_steps(false) == 0);
  CHECK(allocations_of_steps(true) == 0);
#else
  CHECK(allocations_of_steps(false) > 0);
#endif
}

}  // namespace
}  // namespace hw::scheduler
