// What a call costs on the writer thread, from the journal into the database, and as JSON.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/metrics.h"
#include "base/temp_folder.h"
#include "journal/call_codec.h"
#include "journal/call_samples.h"
#include "journal/loop_journal.h"
#include "store/archiver.h"
#include "store/call_json.h"
#include "store/schema.h"

namespace hw::store {
namespace {

using timeline::Call;

constexpr journal::JournalGeometry kGeometry{256 * 1024, 64};

std::vector<Call> calls_with(int tokens) {
  Random random(1);
  std::vector<Call> calls;
  for (int i = 0; i < 64; ++i) calls.push_back(journal::typical_call(random, wall_ns(), tokens));
  return calls;
}

std::unique_ptr<journal::Journal> journal_in(const TempFolder& folder) {
  auto journal =
      journal::Journal::open(folder.file("loop-0.journal"), {}, kGeometry, 0, 0, nullptr);
  HW_ASSERT(journal.has_value());
  while ((*journal)->set_aside_one()) {
  }
  return std::move(*journal);
}

// A thousand calls from the journal into the database; the time is that of one of them.
void archive(benchmark::State& state) {
  constexpr int kBatch = 1'000;
  const TempFolder folder;
  auto database = open_store_database(folder.file("calls.db"));
  HW_ASSERT(database.has_value());
  auto archiver = Archiver::create(**database, nullptr, nullptr);
  HW_ASSERT(archiver.has_value());
  HW_ASSERT((*archiver)->add(journal_in(folder), {}).has_value());
  journal::Journal& journal = (*archiver)->tails()[0]->journal();
  journal::LoopJournal sink(journal, Counter(), [] {});
  Random random(2);
  std::vector<Call> calls = calls_with(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < kBatch; ++i) {
      Call& call = calls[static_cast<size_t>(i) % calls.size()];
      call.id = RequestId::make(call.arrived_wall, random);
      call.trace = TraceId::of(call.id);
      sink.begin(journal::begun_call(call));
      sink.end(call);
    }
    state.ResumeTiming();
    Result<bool> more = true;
    while (more.has_value() && *more) more = (*archiver)->archive();
    HW_ASSERT(more.has_value());
  }
  HW_ASSERT(sink.lost() == 0);
  state.counters["per_call"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kBatch,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(archive)->Arg(0)->Arg(32)->Iterations(100);

void to_json(benchmark::State& state) {
  const std::vector<Call> calls = calls_with(32);
  std::string out;
  size_t i = 0;
  for (auto _ : state) {
    out.clear();
    append_call_json(out, calls[i++ % calls.size()]);
  }
}
BENCHMARK(to_json);

}  // namespace
}  // namespace hw::store
