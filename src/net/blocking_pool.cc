#include "net/blocking_pool.h"

namespace hw::net {

BlockingPool::BlockingPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
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
    if (ending_ || jobs_.size() >= kQueueMax) return false;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
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
    wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
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
