#include "engine/self_check.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/text.h"

namespace hw::engine {
namespace {

// Resident pages of this process, from /proc/self/statm; 0 where that cannot be read.
int64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  char text[128] = {};
  const size_t count = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const std::string_view line(text, count);
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  return std::strtoll(text + space, nullptr, 10) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

SelfCheck::SelfCheck(const EngineMetrics& metrics, const watchdog::Bounds& bounds)
    : watchdog_(bounds), metrics_(metrics) {}

Healing SelfCheck::look(const scheduler::Scheduler& scheduler, int listened,
                        std::optional<Nanos> holds_until, Nanos now) {
  next_look_ = now + kLookInterval;
  watchdog::Snapshot snapshot = snapshot_of(scheduler);
  snapshot.now = now;
  snapshot.server_requests = listened;
  snapshot.holds_until = holds_until;
  Healing healing;
  for (const watchdog::Alarm& alarm : watchdog_.look(snapshot)) {
    log_error("watchdog", watchdog::describe(alarm));
    metrics_.alarms[static_cast<size_t>(alarm.signature)].add();
    if (alarm.heal == watchdog::Heal::kEvictSequences) {
      healing.evict.insert(healing.evict.end(), alarm.culprits.begin(), alarm.culprits.end());
    }
    healing.reclaim = healing.reclaim || alarm.heal == watchdog::Heal::kReclaimBlocks;
  }
  metrics_.evicted.add(static_cast<int64_t>(healing.evict.size()));
  metrics_.block_drift.set(snapshot.blocks_allocated - snapshot.blocks_live);
  return healing;
}

watchdog::Snapshot SelfCheck::snapshot_of(const scheduler::Scheduler& scheduler) {
  const scheduler::BlockPool& pool = scheduler.cache().pool();
  const scheduler::Totals& totals = scheduler.totals();
  views_.clear();
  counted_.assign(static_cast<size_t>(pool.usable_blocks()) + 1, false);
  blocks_live_ = 0;
  for (const scheduler::Sequence* sequence : scheduler.running()) add_view(*sequence);
  const std::vector<const scheduler::Sequence*> waiting = scheduler.waiting();
  for (const scheduler::Sequence* sequence : waiting) add_view(*sequence);

  watchdog::Snapshot snapshot;
  snapshot.sequences = views_;
  snapshot.running = static_cast<int>(scheduler.running().size());
  snapshot.waiting = static_cast<int>(waiting.size());
  snapshot.blocks = pool.usable_blocks();
  snapshot.blocks_allocated = pool.used_blocks();
  snapshot.blocks_live = blocks_live_;
  if (!waiting.empty()) {
    const double kept_free = scheduler.options().watermark * static_cast<double>(snapshot.blocks);
    snapshot.head_blocks =
        scheduler::blocks_for(waiting.front()->length) + static_cast<int64_t>(kept_free) + 1;
  }
  snapshot.steps = totals.steps;
  snapshot.preemptions = totals.preemptions;
  snapshot.completions = metrics_.completions();
  snapshot.generated_tokens = totals.sampled_tokens;
  snapshot.rss_bytes = resident_bytes();
  return snapshot;
}

void SelfCheck::add_view(const scheduler::Sequence& sequence) {
  views_.push_back(
      {sequence.number, static_cast<int64_t>(sequence.blocks.size()), sequence.deadline});
  for (const scheduler::BlockId block : sequence.blocks) {
    const size_t i = static_cast<size_t>(block);
    if (counted_[i]) continue;
    counted_[i] = true;
    ++blocks_live_;
  }
}

}  // namespace hw::engine
