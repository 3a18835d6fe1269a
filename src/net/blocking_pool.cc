#include "net/blocking_pool.h"

#include <system_error>

#include "base/assert.h"

namespace hw::net {

BlockingPool::BlockingPool(int threads_max, size_t queue_max)
    : threads_max_(static_cast<size_t>(threads_max)), queue_max_(queue_max) {
  HW_ASSERT(threads_max >= 1 && queue_max >= 1);
}

BlockingPool::~BlockingPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool BlockingPool::submit(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || jobs_.size() >= queue_max_) return false;
    jobs_.push_back(std::move(job));
    if (jobs_.size() > idle_ && threads_.size() < threads_max_ && !add_thread()) {
      jobs_.pop_back();
      return false;
    }
  }
  wake_.notify_one();
  return true;
}

// Under the lock. False where the job has nobody to run it: the system has no thread to give.
bool BlockingPool::add_thread() {
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    return !threads_.empty();
  }
  return true;
}

Task<bool> BlockingPool::run(Loop& loop, std::function<void()>& job) {
  constexpr Signals kDone = 1;
  Event done(loop);
  // The event lives in this frame, which stays until the job has raised it.
  std::function<void()> tell = [&loop, &done, &job] {
    job();
    loop.post([&done] { done.raise(kDone); });
  };
  if (!submit(std::move(tell))) co_return false;
  co_await done.wait(kDone);
  co_return true;
}

void BlockingPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    --idle_;
    if (ending_) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace hw::net
