// What a call costs its loop: encoding alone, and begin and end together into the journal.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/temp_folder.h"
#include "journal/call_codec.h"
#include "journal/call_samples.h"
#include "journal/loop_journal.h"

namespace hw::journal {
namespace {

using timeline::Call;

constexpr JournalGeometry kGeometry{256 * 1024, 64};

std::vector<Call> calls_with(int tokens) {
  Random random(1);
  std::vector<Call> calls;
  for (int i = 0; i < 64; ++i) calls.push_back(typical_call(random, wall_ns(), tokens));
  return calls;
}

std::unique_ptr<Journal> journal_in(const TempFolder& folder) {
  auto journal = Journal::open(folder.file("loop-0.journal"), {}, kGeometry, 0, 0, nullptr);
  HW_ASSERT(journal.has_value());
  while ((*journal)->set_aside_one()) {
  }
  return std::move(*journal);
}

void encode(benchmark::State& state) {
  const std::vector<Call> calls = calls_with(static_cast<int>(state.range(0)));
  std::vector<char> buffer(kCallBytesMax);
  size_t i = 0, bytes = 0;
  for (auto _ : state) bytes += encode_call(calls[i++ % calls.size()], buffer).size();
  state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(state.iterations());
}
BENCHMARK(encode)->Arg(0)->Arg(32)->Arg(500);

// Begin and end of a call into the journal, given back as a writer thread would.
void begin_and_end(benchmark::State& state) {
  const TempFolder folder;
  const std::vector<Call> calls = calls_with(static_cast<int>(state.range(0)));
  std::vector<Call> begun;
  for (const Call& call : calls) begun.push_back(begun_call(call));
  const auto journal = journal_in(folder);
  LoopJournal sink(*journal, Counter(), [] {});
  uint64_t recycled = 0;
  size_t i = 0;
  for (auto _ : state) {
    sink.begin(begun[i % calls.size()]);
    sink.end(calls[i % calls.size()]);
    ++i;
    while (recycled + 1 < journal->filled_count()) journal->recycle(journal->filled(recycled++));
  }
  HW_ASSERT(sink.lost() == 0);
}
BENCHMARK(begin_and_end)->Arg(0)->Arg(32);

}  // namespace
}  // namespace hw::journal
