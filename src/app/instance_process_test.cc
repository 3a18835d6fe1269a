#include "app/instance_process.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "app/answering_server.h"
#include "app/scratch_folder.h"
#include "base/log.h"

using namespace hw;
using namespace hw::app;

namespace {

constexpr const char* kHealthy = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// A named pipe through which each new child tells its process id; reading waits for it.
class PidPipe {
 public:
  explicit PidPipe(std::string path) : path_(std::move(path)) {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
  }
  const std::string& path() const { return path_; }
  // Reads to the end, so that the writer is through before the next one is waited for.
  int next() const {
    int pid = 0;
    std::ifstream file(path_);
    for (int one; file >> one;) pid = one;
    return pid;
  }

 private:
  std::string path_;
};

// A child that tells its process id and lives until it is told to end.
InstancePlan long_lived(const PidPipe& pids, uint16_t port) {
  InstancePlan plan;
  plan.program = "/bin/sh";
  plan.arguments = {"-c", "echo $$ > " + pids.path() + "; exec sleep 1000"};
  plan.port = port;
  return plan;
}

}  // namespace

TEST_CASE("a child is started, becomes healthy, and ends with its keeper") {
  const ScratchFolder scratch;
  const PidPipe pids(scratch.file("pids"));
  AnsweringServer health(kHealthy);
  int pid = 0;
  {
    InstanceProcess instance(long_lived(pids, health.port()));
    pid = pids.next();
    REQUIRE(pid > 0);
    CHECK(instance.wait_healthy(10 * kSecond, nullptr).has_value());
    CHECK(health.received().starts_with("GET /health HTTP/1.1\r\n"));
    CHECK(::kill(pid, 0) == 0);
    CHECK(::getpgid(pid) == pid);  // Ctrl-C on our terminal does not reach it
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a child that dies before it is healthy is told with its exit status, not restarted") {
  InstancePlan plan;
  plan.program = "/bin/sh";
  plan.arguments = {"-c", "exit 7"};
  plan.port = 1;
  InstanceProcess instance(plan);
  const Status status = instance.wait_healthy(10 * kSecond, nullptr);
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::kConnect);
  CHECK(status.error().message.find("exit status 7") != std::string::npos);
  CHECK(instance.restarts() == 0);
}

TEST_CASE("a child that dies later is started again") {
  const ScratchFolder scratch;
  const PidPipe pids(scratch.file("pids"));
  AnsweringServer health(kHealthy);
  set_log_level(LogLevel::kError);
  InstanceProcess instance(long_lived(pids, health.port()));
  const int first = pids.next();
  REQUIRE(instance.wait_healthy(10 * kSecond, nullptr).has_value());
  ::kill(first, SIGKILL);
  const int second = pids.next();
  CHECK(second > 0);
  CHECK(second != first);
  CHECK(instance.restarts() == 1);
  set_log_level(LogLevel::kInfo);
}

// Run by the test below in a process of its own: keeps a child until it is killed.
TEST_CASE("keeper of a child" * doctest::skip(std::getenv("HEADWAY_TEST_KEEPER") == nullptr)) {
  InstancePlan plan;
  plan.program = "/bin/sh";
  plan.arguments = {
      "-c", "echo $$ > " + std::string(std::getenv("HEADWAY_TEST_KEEPER")) + "; exec sleep 1000"};
  plan.port = 1;
  InstanceProcess instance(plan);
  for (;;) ::pause();
}

TEST_CASE("a child does not outlive a keeper that is killed") {
  const ScratchFolder scratch;
  const PidPipe pids(scratch.file("pids"));
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that the orphan's end can be seen here
  ::setenv("HEADWAY_TEST_KEEPER", pids.path().c_str(), 1);
  char program[] = "/proc/self/exe", filter[] = "--test-case=keeper of a child";
  char* const words[] = {program, filter, nullptr};
  pid_t keeper = 0;
  REQUIRE(::posix_spawn(&keeper, program, nullptr, nullptr, words, environ) == 0);
  ::unsetenv("HEADWAY_TEST_KEEPER");
  const int child = pids.next();
  REQUIRE(child > 0);
  ::kill(keeper, SIGKILL);
  ::waitpid(keeper, nullptr, 0);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_CASE("an instance that never answers is given up after the limit") {
  InstancePlan plan;
  plan.program = "/bin/sleep";
  plan.arguments = {"1000"};
  plan.port = *free_port();
  InstanceProcess instance(plan);
  int told = 0;
  const Status status =
      instance.wait_healthy(1100 * kMillisecond, [&](int seconds) { told = seconds; });
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code == ErrorCode::kTimeoutConnect);
  CHECK(told == 1);
}

TEST_CASE("stopping while an instance starts is no failure of the instance") {
  InstancePlan plan;
  plan.program = "/bin/sleep";
  plan.arguments = {"1000"};
  plan.port = *free_port();
  InstanceProcess instance(plan);
  instance.stop();
  CHECK(instance.wait_healthy(10 * kSecond, nullptr).error().code == ErrorCode::kDraining);
}
