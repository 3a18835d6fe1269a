// BlockingPool: a few threads for what may block (DNS, files, the database), so that no loop ever
// waits for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "net/event.h"
#include "net/loop.h"

namespace hw::net {

class BlockingPool {
 public:
  // More waiting jobs than this are refused by submit().
  static constexpr size_t kQueueMax = 4096;

  explicit BlockingPool(int threads);
  // Finishes the job that each thread runs, forgets those that wait.
  ~BlockingPool();

  // Queues `job`; from any thread. False when kQueueMax jobs wait already.
  bool submit(std::function<void()> job);

  // Runs `job` on the pool and suspends the calling coroutine of `loop` until it is done. False
  // when the pool is full; then the job did not run.
  Task<bool> run(Loop& loop, std::function<void()>& job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  bool ending_ = false;
};

}  // namespace hw::net
