#include "net/loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <exception>

#include "base/assert.h"
#include "base/log.h"
#include "net/poller.h"
#include "net/timers.h"

namespace hw::net {
namespace {

// A wait that took longer was a sleep: more than a system call that finds something (1 us), less
// than a wake-up (10 us and more).
constexpr Nanos kSleepMin = 3 * kMicrosecond;

void stop_on_exception(std::exception_ptr failure) {
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    log_error("net", e.what());
  }
  std::terminate();
}

}  // namespace

// Wakes the loop from other threads.
class Loop::Doorbell final : public Pollable {
 public:
  Doorbell(Loop& loop, Poller& poller)
      : loop_(loop), poller_(poller), fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    HW_ASSERT(fd_ >= 0);
    poller_.add(fd_, *this);
  }
  ~Doorbell() override {
    poller_.remove(fd_, *this);
    ::close(fd_);
  }
  void ring() {
    const uint64_t one = 1;
    // Fails only where it has been rung 2^64 times unheard.
    [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
  }
  void on_ready(Readiness) override {
    uint64_t rings;
    [[maybe_unused]] const ssize_t got = ::read(fd_, &rings, sizeof rings);
    loop_.run_posted();
  }

 private:
  Loop& loop_;
  Poller& poller_;
  const int fd_;
};

// Only the loop's thread touches the context, so that it needs no locks.
Loop::Loop(int index)
    : poller_(std::make_unique<Poller>()),
      timers_(std::make_unique<Timers>()),
      doorbell_(std::make_unique<Doorbell>(*this, *poller_)),
      context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE),
      index_(index) {}

Loop::~Loop() {
  poller_->bury();
}

void Loop::run() {
  const auto guard = boost::asio::make_work_guard(context_);
  while (!stopped_.load(std::memory_order_acquire)) go_round();
}

void Loop::stop() {
  stopped_.store(true, std::memory_order_release);
  doorbell_->ring();
}

void Loop::go_round() {
  const Nanos before = monotonic_ns();
  const int ready = poller_->wait(timeout_ms(before));
  const Nanos now = monotonic_ns();
  // What is ready after a wait that did not sleep may have been so since the last one ended.
  ready_since_ = now - before > kSleepMin ? now : woken_;
  woken_ = now;
  poller_->tell(ready);
  timers_->fire(now);
  if (!resumptions_.empty()) resume_all();
  if (spawned_) {
    spawned_ = false;
    context_.poll();
  }
  poller_->bury();
}

Nanos Loop::wall(Nanos at) {
  constexpr Nanos kFresh = 100 * kMillisecond;
  if (wall_looked_at_ < 0 || at - wall_looked_at_ > kFresh) {
    wall_looked_at_ = at;
    wall_offset_ = wall_ns() - monotonic_ns();
  }
  return at + wall_offset_;
}

int Loop::timeout_ms(Nanos now) const {
  if (spawned_ || !resumptions_.empty()) return 0;
  const Nanos next = timers_->next();
  if (next == Deadline::kNever) return -1;
  if (next <= now) return 0;
  constexpr Nanos kLongest = 60 * kSecond;
  return static_cast<int>((std::min(next - now, kLongest) + kMillisecond - 1) / kMillisecond);
}

void Loop::post(std::function<void()> work) {
  bool first = false;
  {
    const std::lock_guard lock(posted_lock_);
    first = posted_.empty();
    posted_.push_back(std::move(work));
  }
  if (first) doorbell_->ring();
}

void Loop::run_posted() {
  std::vector<std::function<void()>> works;
  {
    const std::lock_guard lock(posted_lock_);
    works.swap(posted_);
  }
  for (std::function<void()>& work : works) work();
}

void Loop::spawn(Task<void> task) {
  boost::asio::co_spawn(context_.get_executor(), std::move(task), stop_on_exception);
  spawned_ = true;
}

void Loop::resume_later(Resumption coroutine) {
  resumptions_.push_back(std::move(coroutine));
}

void Loop::resume_all() {
  // One may add another; those run in this round too.
  for (size_t i = 0; i < resumptions_.size(); ++i) {
    Resumption coroutine = std::move(resumptions_[i]);
    std::move(coroutine)();
  }
  resumptions_.clear();
}

}  // namespace hw::net
