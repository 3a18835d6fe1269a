// What a step costs the scheduler, without any backend.
#include <benchmark/benchmark.h>

#include "scheduler/scheduler.h"

namespace hw::scheduler {
namespace {

Options options_of(int sequences) {
  Options options;
  options.max_num_seqs = sequences;
  options.max_num_batched_tokens = 8192;
  options.max_model_len = 1 << 20;
  options.kv_blocks = 1 << 18;
  options.token_events = false;
  return options;
}

// Steps in which all decode; the argument is how many.
void decode(benchmark::State& state) {
  const auto sequences = static_cast<int>(state.range(0));
  Scheduler scheduler(options_of(sequences));
  for (int i = 0; i < sequences; ++i) {
    Request request;
    request.number = static_cast<RequestNumber>(i + 1);
    request.prompt_tokens = 100;
    request.output_tokens_max = 1'000'000 / sequences;
    if (!scheduler.add(std::move(request))) return state.SkipWithError("refused");
  }
  Nanos now = 0;
  std::vector<Event> events;
  for (auto _ : state) {
    if (scheduler.schedule(++now).items.empty()) return state.SkipWithError("it ended too soon");
    scheduler.apply_blank(now);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode)->Arg(1)->Arg(16)->Arg(64)->Arg(256)->Iterations(3000);

// A closed loop of the argument's concurrency, prompts of 1024 and answers of 128 tokens; items are
// steps, skipped ones included.
void closed_loop(benchmark::State& state, bool skip) {
  const auto concurrency = static_cast<int>(state.range(0));
  Scheduler scheduler(options_of(concurrency));
  RequestNumber last = 0;
  Nanos now = 0;
  std::vector<Event> events;
  for (auto _ : state) {
    while (scheduler.live() < concurrency) {
      Request request;
      request.number = ++last;
      request.prompt_tokens = 820 + static_cast<int>(last * 7919 % 205);
      request.output_tokens_max = 102 + static_cast<int>(last * 104'729 % 26);
      request.arrived = now;
      if (!scheduler.add(std::move(request))) return state.SkipWithError("refused");
    }
    const int64_t steps = skip ? scheduler.decode_steps_ahead() : 0;
    if (steps > 0) {
      scheduler.skip_decodes(steps, now + steps - 1, now + steps);
      now += steps;
      continue;
    }
    scheduler.schedule(now);
    scheduler.apply_blank(++now);
    scheduler.take_events(events);
  }
  state.SetItemsProcessed(scheduler.totals().steps);
}
BENCHMARK_CAPTURE(closed_loop, stepwise, false)->Arg(8)->Arg(32)->Arg(128);
BENCHMARK_CAPTURE(closed_loop, skipping, true)->Arg(8)->Arg(32)->Arg(128);

}  // namespace
}  // namespace hw::scheduler
