// BlockingPool: a few threads for what may block (DNS, files, the database), so that no loop ever
// waits for it. What blocks for different reasons takes different pools: jobs behind a locked
// database must not hold up a look-up of a name.
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
  // More waiting jobs than this are refused by submit(), where nothing else is said.
  static constexpr size_t kQueueMax = 4096;

  // Threads are made when jobs come that no idle one takes, up to `threads_max` >= 1.
  explicit BlockingPool(int threads_max, size_t queue_max = kQueueMax);
  // Finishes the job that each thread runs, forgets those that wait.
  ~BlockingPool();

  // Queues `job`; from any thread. False when as many jobs as may wait do so already.
  bool submit(std::function<void()> job);

  // Runs `job` on the pool and suspends the calling coroutine of `loop` until it is done. False
  // when the pool is full; then the job did not run.
  Task<bool> run(Loop& loop, std::function<void()>& job);

 private:
  void work();
  bool add_thread();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  const size_t threads_max_;
  const size_t queue_max_;
  size_t idle_ = 0;  // threads that wait for a job
  bool ending_ = false;
};

}  // namespace hw::net
