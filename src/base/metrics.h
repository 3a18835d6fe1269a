// Metric registry: counters, gauges and histograms that the data path touches without a lock and
// that a scrape sums over the loops (Prometheus text exposition format 0.0.4).
//
// Normal flow:
//   at start      Counter requests = metrics().counter("headway_x_total", "Help.", {{"k", "v"}});
//   on each loop  set_metric_shard(loop);           // once, on the loop's own thread
//   data path     requests.add();                   // a relaxed load and store, nothing shared
//   at a scrape   metrics().collect(out);           // any thread
//
// Values are kept as int64; `scale` says how many of them make one exported unit (1e9 for
// nanoseconds shown as seconds), so that recording never does floating point.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hw {

class Registry;

// How many integer units make one exported unit.
inline constexpr double kSecondsFromNs = 1e9;
inline constexpr double kMsFromNs = 1e6;

// One label of a series; names must be [a-zA-Z_][a-zA-Z0-9_]*, values are any UTF-8.
struct Label {
  std::string_view name, value;
};
using Labels = std::vector<Label>;

// The calling thread counts in shard `shard` from now on: 0 <= shard < kMetricShardsMax, one shard
// for each loop. Threads that never call this, and shards beyond the maximum, share one that is
// touched with atomic read-modify-write: correct, only dearer.
void set_metric_shard(int shard);
inline constexpr int kMetricShardsMax = 64;

namespace metrics_detail {
inline constexpr int kSharedShard = kMetricShardsMax;
inline constinit thread_local int t_shard = kSharedShard;
inline uint32_t bucket_of(std::span<const int64_t> bounds, int64_t value);
}  // namespace metrics_detail

// Handles are small values that may be copied to any thread and stay valid as long as the registry.
// A default-made handle counts nowhere.

// A value that only grows.
class Counter {
 public:
  Counter() = default;
  // Counts `by` >= 0 in integer units.
  inline void add(int64_t by = 1) const;
  // The sum over all shards, in integer units.
  int64_t value() const;

 private:
  friend class Registry;
  Counter(Registry* registry, uint32_t cell) : registry_(registry), cell_(cell) {}
  Registry* registry_ = nullptr;
  uint32_t cell_ = 0;
};

// A value that goes up and down. Use add() alone (each thread counts its own part: streams in
// flight) or set() alone (one writer at a time, typically an on_collect hook: queue depth).
class Gauge {
 public:
  Gauge() = default;
  inline void add(int64_t by) const;
  void set(int64_t value) const;
  int64_t value() const;

 private:
  friend class Registry;
  Gauge(Registry* registry, uint32_t cell) : registry_(registry), cell_(cell) {}
  Registry* registry_ = nullptr;
  uint32_t cell_ = 0;
};

// A distribution over fixed buckets.
class HistogramMetric {
 public:
  HistogramMetric() = default;
  // Counts `value` in integer units; a value equal to a bucket's bound belongs to that bucket.
  inline void record(int64_t value) const;
  // Observations over all shards.
  int64_t count() const;
  // Sum of the observed values over all shards, in integer units.
  double sum() const;

 private:
  friend class Registry;
  HistogramMetric(Registry* registry, uint32_t cell, std::span<const int64_t> bounds)
      : registry_(registry), cell_(cell), bounds_(bounds) {}
  Registry* registry_ = nullptr;
  uint32_t cell_ = 0;                  // sum (a double), a count for each bound, that of +Inf
  std::span<const int64_t> bounds_{};  // in integer units, owned by the registry
};

// Keeps a collect hook registered; the hook ends with it, and is not running any more when the
// destructor returns. Must end before its registry.
class CollectHook {
 public:
  CollectHook() = default;
  CollectHook(CollectHook&& other) noexcept;
  CollectHook& operator=(CollectHook&& other) noexcept;
  ~CollectHook();

 private:
  friend class Registry;
  CollectHook(Registry* registry, uint64_t id) : registry_(registry), id_(id) {}
  void release();
  Registry* registry_ = nullptr;
  uint64_t id_ = 0;
};

// Owns the series. All functions may be called from any thread; registering and collecting take a
// lock, touching a handle does not. Registering later never moves what others write.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // The series `name` with `labels` (in any order); the same handle where it exists already. `help`
  // and `scale` of the first registration of a name count. A name registered as another type, or a
  // histogram with other buckets, is our bug and asserts. Beyond kCellsMax the handles
  // of further series count nowhere, and headway_metric_series_dropped_total counts those series.
  Counter counter(std::string_view name, std::string_view help, const Labels& labels = {},
                  double scale = 1);
  Gauge gauge(std::string_view name, std::string_view help, const Labels& labels = {},
              double scale = 1);
  // `buckets`: upper bounds in exported units, rising, at most kBucketsMax; +Inf is added.
  HistogramMetric histogram(std::string_view name, std::string_view help, const Labels& labels,
                            std::span<const double> buckets, double scale = kSecondsFromNs);

  // Runs `hook` at the start of each collect(), on the collecting thread, one at a time. The hook
  // sets gauges; it must not register hooks or collect.
  [[nodiscard]] CollectHook on_collect(std::function<void()> hook);

  // Appends every series in exposition format 0.0.4, families in order of registration.
  void collect(std::string& out);

  static constexpr size_t kBucketsMax = 64;
  static constexpr uint32_t kCellsMax = 65536;

 private:
  friend class Counter;
  friend class Gauge;
  friend class HistogramMetric;
  friend class CollectHook;
  using Cell = std::atomic<int64_t>;
  static constexpr uint32_t kChunkBits = 10;  // 8 KiB a chunk and shard that is really touched
  static constexpr uint32_t kChunkCells = 1u << kChunkBits;
  static constexpr uint32_t kChunks = kCellsMax / kChunkCells;
  struct Index;
  struct Request;

  // The calling thread's cell. A shard's chunk is made when it is first touched.
  Cell& cell(int shard, uint32_t index) {
    Cell* chunk =
        chunks_[static_cast<size_t>(shard)][index >> kChunkBits].load(std::memory_order_acquire);
    if (chunk == nullptr) [[unlikely]]
      chunk = add_chunk(shard, index >> kChunkBits);
    return chunk[index & (kChunkCells - 1)];
  }
  void touch(uint32_t index, int64_t by) {
    const int shard = metrics_detail::t_shard;
    touch(shard, cell(shard, index), by);
  }
  static void touch(int shard, Cell& at, int64_t by) {
    if (shard != metrics_detail::kSharedShard) [[likely]] {
      at.store(at.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    } else {
      at.fetch_add(by, std::memory_order_relaxed);
    }
  }
  // The sum of a histogram is a double: as an integer, the nanoseconds that 20,000 open streams add
  // up to would overflow within days.
  static void touch_sum(int shard, Cell& at, double by);
  Cell* add_chunk(int shard, uint32_t chunk);
  int64_t total(uint32_t index) const;
  double total_sum(uint32_t index) const;
  std::pair<uint32_t, std::span<const int64_t>> find_or_add(const Request& request);
  void remove_hook(uint64_t id);

  std::array<std::array<std::atomic<Cell*>, kChunks>, kMetricShardsMax + 1> chunks_{};
  std::unique_ptr<Index> index_;
};

// The process's registry; lives until the process ends.
Registry& metrics();

inline void Counter::add(int64_t by) const {
  if (registry_ != nullptr) registry_->touch(cell_, by);
}
inline void Gauge::add(int64_t by) const {
  if (registry_ != nullptr) registry_->touch(cell_, by);
}
inline void Registry::touch_sum(int shard, Cell& at, double by) {
  int64_t seen = at.load(std::memory_order_relaxed);
  int64_t wanted = std::bit_cast<int64_t>(std::bit_cast<double>(seen) + by);
  if (shard != metrics_detail::kSharedShard) [[likely]] {
    at.store(wanted, std::memory_order_relaxed);
    return;
  }
  while (!at.compare_exchange_weak(seen, wanted, std::memory_order_relaxed)) {
    wanted = std::bit_cast<int64_t>(std::bit_cast<double>(seen) + by);
  }
}
// The number of bounds below `value`, i.e. the index of its bucket; without a branch to mispredict.
inline uint32_t metrics_detail::bucket_of(std::span<const int64_t> bounds, int64_t value) {
  if (bounds.empty()) return 0;
  const int64_t* at = bounds.data();
  for (size_t left = bounds.size(); left > 1;) {
    const size_t half = left / 2;
    at += at[half - 1] < value ? half : 0;
    left -= half;
  }
  return static_cast<uint32_t>(at - bounds.data()) + (*at < value ? 1 : 0);
}
inline void HistogramMetric::record(int64_t value) const {
  if (registry_ == nullptr) return;
  const int shard = metrics_detail::t_shard;
  Registry::Cell* const cells = &registry_->cell(shard, cell_);  // of one series: in one chunk
  Registry::touch_sum(shard, cells[0], static_cast<double>(value));
  Registry::touch(shard, cells[1 + metrics_detail::bucket_of(bounds_, value)], 1);
}

}  // namespace hw
