#include "scheduler/scheduler.h"

#include <doctest/doctest.h>

namespace hw::scheduler {
namespace {

TEST_CASE("a request gets its tokens and ends by length") {
  Options options;
  options.kv_blocks = 64;
  Scheduler scheduler(options);
  Request request;
  request.number = 1;
  request.prompt_tokens = 40;
  request.output_tokens_max = 3;
  REQUIRE(scheduler.add(request).has_value());
  Nanos now = 0;
  int steps = 0;
  while (!scheduler.schedule(now).items.empty()) {
    scheduler.apply_blank(++now);
    ++steps;
  }
  CHECK(steps == 3);
  CHECK(scheduler.live() == 0);
}

}  // namespace
}  // namespace hw::scheduler
