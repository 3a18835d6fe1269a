#include "app/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/assert.h"

namespace hw::app {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void(Asked)> on_signal) : on_signal_(std::move(on_signal)) {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = watched();
  HW_ASSERT(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  HW_ASSERT(signals_ >= 0);
  HW_ASSERT(::pipe2(wake_, O_CLOEXEC) == 0);
  thread_ = std::thread([this] { watch(); });
}

SignalWatch::~SignalWatch() {
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
  ::close(signals_);
}

void SignalWatch::watch() {
  pollfd waiting[2] = {{signals_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
  for (;;) {
    if (::poll(waiting, 2, -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info) continue;
    on_signal_(info.ssi_signo == SIGHUP ? Asked::kReload : Asked::kStop);
  }
}

}  // namespace hw::app
