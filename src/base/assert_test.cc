#include "base/assert.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace hw {
namespace {

TEST_CASE("a failed assertion names its place and stops the process, a true one does nothing") {
  HW_ASSERT(1 + 1 == 2);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    HW_ASSERT(1 + 1 == 3);
    _exit(0);
  }
  close(ends[1]);
  std::string out;
  char bytes[512];
  for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) {
    out.append(bytes, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(out.find("assert_test.cc:") != std::string::npos);
  CHECK(out.find("assertion failed: 1 + 1 == 3") != std::string::npos);
}

}  // namespace
}  // namespace hw
