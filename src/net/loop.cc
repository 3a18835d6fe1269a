#include "net/loop.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>

#include "base/log.h"
#include "net/timers.h"

namespace hw::net {
namespace {

// Two callbacks at most this far apart belong to one burst: longer than the way from one handler
// to the next inside io_context (below 1 us), shorter than a wake-up from epoll_wait (10 us and
// more).
constexpr Nanos kBurstPause = 3 * kMicrosecond;

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

// One thread runs the context, so its reactor needs no locks; posts from other threads still do.
Loop::Loop(int index)
    : context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      timers_(std::make_unique<Timers>(*this)),
      index_(index) {}

Loop::~Loop() = default;

void Loop::run() {
  const auto guard = boost::asio::make_work_guard(context_);
  context_.run();
}

void Loop::stop() {
  context_.stop();
}

void Loop::post(std::function<void()> work) {
  boost::asio::post(context_, [this, work = std::move(work)] {
    enter();
    work();
    leave();
  });
}

void Loop::spawn(Task<void> task) {
  boost::asio::co_spawn(executor(), std::move(task), stop_on_exception);
}

Nanos Loop::enter() {
  const Nanos now = monotonic_ns();
  if (now - last_end_ > kBurstPause) burst_start_ = now;
  return now;
}

}  // namespace hw::net
