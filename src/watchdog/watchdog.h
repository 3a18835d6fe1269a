// Watchdog: compares what an engine should be doing with what it does, and names the culprits.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace hw::watchdog {

// What is wrong.
enum class Signature : uint8_t {
  kBlockDrift,    // blocks are allocated that no live sequence has
  kRequestDrift,  // the server counts other requests than the engine has sequences
  kOverdue,       // a sequence is still there after its deadline
  kBlockedQueue,  // nothing runs, somebody waits, and the head would fit
  kSlowSteps,     // steps take much longer than predicted
  kNoStep,        // there is work, and no step has ended for long
  kThrash,        // preemptions eat the work: far more of them than completions, fewer tokens
  kMemoryGrowth,  // the process grows and grows
};
inline constexpr int kSignatureCount = 8;  // for tables

// "block_drift", "request_drift", "overdue", "blocked_queue", "slow_steps", "no_step", "thrash",
// "memory_growth".
std::string_view signature_name(Signature signature);

// What the engine may safely do about it, between steps.
enum class Heal : uint8_t {
  kNone,
  kReclaimBlocks,   // free the blocks that no live sequence has
  kEvictSequences,  // end the culprits with an error
};

// One sequence that is not over.
struct SequenceView {
  uint64_t number = 0;
  int64_t blocks = 0;
  Nanos deadline = 0;  // INT64_MAX: none
};

// An engine at one moment, between steps or while one is computed. Counts grow from the start.
struct Snapshot {
  Nanos now = 0;
  std::span<const SequenceView> sequences;
  int running = 0;
  int waiting = 0;
  int64_t blocks = 0;                // that can be allocated
  int64_t blocks_allocated = 0;      // a block that sequences share counts once, as in blocks_live
  int64_t blocks_live = 0;           // distinct blocks of all live sequences
  int64_t head_blocks = 0;           // what the queue's head needs to be admitted; 0: nobody waits
  std::optional<Nanos> holds_until;  // the queue waits on purpose until then
  int server_requests = 0;           // that the server believes to be in the engine
  int64_t steps = 0;                 // that have ended
  Nanos predicted_step_ns = 0;       // of the next step, or of the one under way; 0: unknown
  int64_t preemptions = 0;
  int64_t completions = 0;
  int64_t generated_tokens = 0;
  int64_t rss_bytes = 0;  // 0: unknown
};

// When something is wrong enough. Times run from the first snapshot that shows it.
struct Bounds {
  int block_drift_looks = 2;             // in so many snapshots one after the other
  Nanos request_drift_ns = 5 * kSecond;  // news between server and engine takes milliseconds
  Nanos overdue_grace_ns = kSecond;      // after the deadline: one long step
  int blocked_looks = 3;
  Nanos blocked_ns = kSecond;
  // A step is slow above this ratio to its prediction; half of the last `slow_window` steps are.
  double slow_ratio = 3.0;
  int slow_window = 16;
  // No step for so many predicted step times, and at least for the floor: short predictions are
  // dwarfed by what the system's scheduler does.
  int no_step_predictions = 20;
  Nanos no_step_floor_ns = 2 * kSecond;
  Nanos no_step_unpredicted_ns = 30 * kSecond;  // where nothing is predicted
  Nanos thrash_window_ns = 10 * kSecond;
  int64_t thrash_preemptions = 16;         // at least, in a window
  int64_t thrash_per_completion = 4;       // and so many for each completion
  double thrash_tokens_ratio = 0.7;        // and fewer tokens than this share of the best window
  Nanos memory_window_ns = 60 * kSecond;   // the least of each window is compared
  int memory_windows = 6;                  // that grow, each on the one before
  int64_t memory_growth_bytes = 64 << 20;  // at least, over all of them
};

// Something is wrong. It is told once, and again only after it was right in between.
struct Alarm {
  Signature signature = Signature::kBlockDrift;
  std::vector<uint64_t> culprits;  // numbers of sequences; at most kCulpritsMax
  int64_t measured = 0;            // blocks, requests, nanoseconds, thousandths or bytes
  int64_t allowed = 0;             // likewise
  Heal heal = Heal::kNone;
};
inline constexpr size_t kCulpritsMax = 16;

// The alarm as a line of the log, with its numbers.
std::string describe(const Alarm& alarm);

// Pure: told all it knows, and the time never decreases. One thread.
class Watchdog {
 public:
  explicit Watchdog(const Bounds& bounds = {}) : bounds_(bounds) {}

  // A step has ended that took `real_ns`; predicted_ns is 0 where nobody knows.
  void step_ended(Nanos real_ns, Nanos predicted_ns);
  // Looks at the engine; what is wrong now and was not at the last look.
  std::vector<Alarm> look(const Snapshot& snapshot);

  // Whether it is wrong now, told or not.
  bool active(Signature signature) const { return active_[index(signature)]; }
  // Times that it was told.
  int64_t alarms(Signature signature) const { return told_[index(signature)]; }
  // When no step has ended since then, the engine is not live. At the time of the last look.
  bool live() const { return !active(Signature::kNoStep); }

 private:
  struct Window {
    Nanos began = 0;
    int64_t preemptions = 0;
    int64_t completions = 0;
    int64_t tokens = 0;
  };

  static size_t index(Signature signature) { return static_cast<size_t>(signature); }
  void settle(std::vector<Alarm>& alarms, std::optional<Alarm> found, Signature signature);
  std::optional<Alarm> block_drift(const Snapshot& snapshot);
  std::optional<Alarm> request_drift(const Snapshot& snapshot);
  std::optional<Alarm> overdue(const Snapshot& snapshot) const;
  std::optional<Alarm> blocked_queue(const Snapshot& snapshot);
  std::optional<Alarm> slow_steps() const;
  std::optional<Alarm> no_step(const Snapshot& snapshot);
  std::optional<Alarm> thrash(const Snapshot& snapshot);
  std::optional<Alarm> memory_growth(const Snapshot& snapshot);

  const Bounds bounds_;
  std::array<bool, kSignatureCount> active_{};
  std::array<int64_t, kSignatureCount> told_{};
  int drift_looks_ = 0;
  std::optional<Nanos> request_drift_since_;
  int request_drift_sign_ = 0;
  int blocked_looks_ = 0;
  Nanos blocked_since_ = 0;
  std::deque<double> ratios_;  // of the last steps, real to predicted
  int64_t steps_seen_ = -1;
  Nanos progress_ = 0;  // the last look with a new step or without work
  std::optional<Window> window_;
  int64_t best_tokens_ = 0;  // of a whole window
  std::optional<Alarm> thrashing_;
  std::optional<Nanos> memory_began_;
  int64_t memory_least_ = 0;
  std::deque<int64_t> memory_;  // the least of each whole window
};

}  // namespace hw::watchdog
