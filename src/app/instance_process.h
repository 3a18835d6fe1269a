// InstanceProcess: an inference instance as a child process, watched and started again when it
// dies. It never outlives this process.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hw::app {

// How the child is started and asked.
struct InstancePlan {
  std::string program;                 // path of the executable
  std::vector<std::string> arguments;  // without the program's name
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // where it will answer GET /health with 200
};

// A free TCP port on 127.0.0.1 at this moment. kConfig where there is none.
Result<uint16_t> free_port();

class InstanceProcess {
 public:
  // First wait before a new start after a death, doubled with each further one up to the longest;
  // an instance that lived for a minute counts as well again.
  static constexpr Nanos kBackoffFirst = kSecond;
  static constexpr Nanos kBackoffLongest = 30 * kSecond;

  // Starts the child. Its standard error is ours, its standard output goes there too. To be made
  // before the calling process drops privileges or changes its signal mask for good; the child gets
  // an empty mask and a process group of its own, so that Ctrl-C reaches it only through us.
  explicit InstanceProcess(InstancePlan plan);
  // As stop().
  ~InstanceProcess();
  InstanceProcess(const InstanceProcess&) = delete;
  InstanceProcess& operator=(const InstanceProcess&) = delete;

  // Waits until GET /health answers 200. `progress` is called about once a second with the seconds
  // waited. kConnect when the child has died before it was healthy (the message holds its exit
  // status), kTimeoutConnect after `limit`, kDraining after stop().
  Status wait_healthy(Nanos limit, const std::function<void(int seconds)>& progress);

  // Ends the child: SIGTERM, after five seconds SIGKILL. Idempotent.
  void stop();

  // Times that the child was started anew after a death.
  int restarts() const;

 private:
  void watch();
  int start_child();

  const InstancePlan plan_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool healthy_once_ = false;
  int pid_ = -1;
  int restarts_ = 0;
  std::string last_death_;  // how the child ended last; empty: it did not
  std::thread thread_;      // forks: the child is bound to this thread's life
};

}  // namespace hw::app
