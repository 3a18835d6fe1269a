#include "app/instance_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/http_request.h"
#include "base/log.h"
#include "base/text.h"

namespace hw::app {
namespace {

constexpr std::string_view kWhere = "instance";

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return concat("it ended with exit status ", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) {
    return concat("it was killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)),
                  ")");
  }
  return "it ended";
}

// Between fork and exec only what POSIX calls async-signal-safe.
[[noreturn]] void become(const char* program, char* const* arguments, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::execv(program, arguments);
  ::_exit(127);
}

tl::unexpected<Error> stopped_meanwhile() {
  return fail(ErrorCode::kDraining, "stopped while the instance was starting");
}

bool is_healthy(const InstancePlan& plan) {
  Url url;
  url.host = plan.host, url.port = plan.port;
  HttpRequest request;
  request.target = "/health";
  request.timeout_ns = 2 * kSecond;
  const Result<HttpAnswer> answer = http_request(url, request);
  return answer.has_value() && answer->status == 200;
}

}  // namespace

Result<uint16_t> free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool good = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!good) {
    return fail(ErrorCode::kConfig, concat("no free port on 127.0.0.1: ", std::strerror(error)));
  }
  return ntohs(address.sin_port);
}

InstanceProcess::InstanceProcess(InstancePlan plan) : plan_(std::move(plan)) {
  thread_ = std::thread([this] { watch(); });
}

InstanceProcess::~InstanceProcess() {
  stop();
}

int InstanceProcess::start_child() {
  std::vector<char*> arguments = {const_cast<char*>(plan_.program.c_str())};
  for (const std::string& one : plan_.arguments)
    arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(plan_.program.c_str(), arguments.data(), parent);
  return pid;
}

// One child after another until stop().
void InstanceProcess::watch() {
  Nanos wait = kBackoffFirst;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Nanos began = monotonic_ns();
    const int pid = start_child();
    if (pid < 0) {
      last_death_ = concat("it could not be started: ", std::strerror(errno));
    } else {
      pid_ = pid;
      changed_.notify_all();
      lock.unlock();
      // Waits without reaping: until pid_ is cleared under the lock, stop() may signal the number.
      siginfo_t info{};
      while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0 &&
             errno == EINTR) {
      }
      lock.lock();
      int status = 0;
      ::waitpid(pid, &status, 0);
      pid_ = -1;
      last_death_ = how_it_ended(status);
    }
    changed_.notify_all();
    if (stopping_ || !healthy_once_) return;
    if (monotonic_ns() - began > 60 * kSecond) wait = kBackoffFirst;
    log_error(kWhere, concat("the instance has died: ", last_death_, "; started again in ",
                             wait / kSecond, " s"));
    changed_.wait_for(lock, std::chrono::nanoseconds(wait), [this] { return stopping_; });
    wait = std::min(2 * wait, kBackoffLongest);
    ++restarts_;
  }
}

Status InstanceProcess::wait_healthy(Nanos limit, const std::function<void(int)>& progress) {
  const Nanos began = monotonic_ns();
  int told = 0;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return stopped_meanwhile();
      if (!last_death_.empty()) {
        return fail(ErrorCode::kConnect, concat("the instance did not start: ", last_death_));
      }
    }
    if (is_healthy(plan_)) break;
    const Nanos waited = monotonic_ns() - began;
    if (waited > limit) {
      return fail(ErrorCode::kTimeoutConnect,
                  concat("the instance is not healthy after ", limit / kSecond, " s"));
    }
    if (waited / kSecond > told) {
      told = static_cast<int>(waited / kSecond);
      if (progress) progress(told);
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(100),
                      [this] { return stopping_ || !last_death_.empty(); });
    if (stopping_) return stopped_meanwhile();
  }
  const std::lock_guard lock(mutex_);
  healthy_once_ = true;
  return {};
}

void InstanceProcess::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    const bool ended =
        changed_.wait_for(lock, std::chrono::seconds(5), [this] { return pid_ < 0; });
    if (!ended) ::kill(pid_, SIGKILL);
  }
  lock.unlock();
  if (thread_.joinable()) thread_.join();
}

int InstanceProcess::restarts() const {
  const std::lock_guard lock(mutex_);
  return restarts_;
}

}  // namespace hw::app
