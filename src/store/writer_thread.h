// WriterThread: the one thread of the store. Moves calls from the journals into the database,
// prunes old ones, writes the access log, notices changed keys, and knows how all of that goes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "store/access_log.h"
#include "store/archiver.h"
#include "store/database.h"
#include "store/health.h"
#include "store/options.h"

namespace hw::store {

class WriterThread {
 public:
  // Opens the journals in `folder` (one for each loop, and what other loops have left) and takes
  // the database over. The thread does not run yet: journal() may be asked for.
  static Result<std::unique_ptr<WriterThread>> create(const StoreOptions& options, int loops,
                                                      const std::string& folder,
                                                      std::unique_ptr<Database> database,
                                                      Counter failures);
  ~WriterThread();

  // Where that loop appends.
  journal::Journal& journal_of(int loop) {
    return archiver_->tails()[static_cast<size_t>(loop)]->journal();
  }

  // Whether a process before this one has left anything to store.
  bool has_leftover() const;
  void start();
  // Stores what is in the journals and ends the thread.
  void stop();

  // --- any thread ---

  // Wakes the thread up; async-signal-safe, does not block.
  void wake();
  // Waits until everything that was appended before this call is stored, or the database has
  // refused it, but no longer than `timeout`.
  void drain(std::chrono::milliseconds timeout);
  // Records of ended calls of this name that are not in the database, latest first; empty where the
  // thread has no time for it within `timeout`.
  std::vector<std::string> find_waiting(std::string_view name, std::chrono::milliseconds timeout);
  // Ends of this process that are in the database.
  uint64_t stored_calls() const { return stored_calls_.load(std::memory_order_relaxed); }
  // Why the store is in trouble, one sentence each; empty when it is not.
  std::vector<std::string> troubles() const;
  uint64_t free_bytes() const { return free_bytes_.load(std::memory_order_relaxed); }
  void on_keys_changed(std::function<void()> changed);
  void look_at_keys();

 private:
  WriterThread(const StoreOptions& options, int loops, std::unique_ptr<Database> database,
               Counter failures);
  Status open_journals(const std::string& folder);
  Status open_journal(const std::string& path, uint32_t loop);
  void run();
  void wait(int timeout_ms);
  int timeout_ms() const;
  void archive_all();
  void answer_drains(uint64_t generation);
  void answer_search();
  void drop_empty_strangers();
  void set_aside();
  void each_second();
  void check_keys();
  void prune();
  void note(std::string& trouble, std::string_view message);
  void note(std::string& trouble, const Status& status);
  void publish();

  const StoreOptions options_;
  const int loops_;
  const std::unique_ptr<Database> database_;
  const Counter failures_;
  AccessLog access_log_;
  std::unique_ptr<Archiver> archiver_;
  int wake_fd_ = -1;
  std::thread thread_;

  // The writer thread's.
  bool aside_pending_ = true;  // there may be more to set aside
  bool prune_pending_ = false;
  Nanos retry_at_ = 0;        // monotonic, when the database has refused
  Nanos next_second_ = 0;     // monotonic
  Nanos next_prune_ = 0;      // monotonic
  int64_t data_version_ = 0;  // of the database, as PRAGMA data_version
  int64_t keys_version_ = -1;

  std::atomic<bool> stopping_{false};
  std::atomic<bool> look_at_keys_{false};
  std::atomic<uint64_t> stored_calls_{0};
  std::atomic<uint64_t> free_bytes_{0};

  std::mutex drain_lock_;
  std::condition_variable drained_;
  uint64_t drain_wanted_ = 0, drain_done_ = 0;

  std::mutex asking_lock_;  // one search at a time
  std::mutex search_lock_;  // guards what follows
  std::condition_variable searched_;
  std::string search_name_;
  bool search_wanted_ = false;
  std::vector<std::string> search_found_;

  mutable std::mutex trouble_lock_;
  std::string archive_trouble_, aside_trouble_, log_trouble_, prune_trouble_;

  std::mutex keys_lock_;  // held while the callback runs
  std::function<void()> keys_changed_;
};

}  // namespace hw::store
