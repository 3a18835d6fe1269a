// Signals of the process, taken by one thread instead of by handlers.
#pragma once

#include <functional>
#include <thread>

namespace hw::app {

// What the process is asked for.
enum class Asked : unsigned char {
  kStop,    // SIGTERM, SIGINT: drain; again: end at once
  kReload,  // SIGHUP
};

// Blocks SIGTERM, SIGINT and SIGHUP in the calling thread and all that it makes later, and calls
// `on_signal` for each on a thread of its own. To be made before any other thread. SIGPIPE is
// ignored from then on.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void(Asked)> on_signal);
  // Ends the thread; `on_signal` is not running any more afterwards.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch();
  std::function<void(Asked)> on_signal_;
  int wake_[2] = {-1, -1};  // a pipe; closing its writing end ends the thread
  int signals_ = -1;        // signalfd
  std::thread thread_;
};

}  // namespace hw::app
