#include "base/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace hw {
namespace {

// What `work` writes to standard error.
std::string stderr_of(const std::function<void()>& work) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  work();
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string out;
  char bytes[4096];
  for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) {
    out.append(bytes, static_cast<size_t>(got));
  }
  close(ends[0]);
  return out;
}

TEST_CASE("a line has time, level, place and message") {
  const std::string line = stderr_of([] { log_warning("route", "no channel left"); });
  REQUIRE(line.size() > 28);
  CHECK(line[10] == 'T');
  CHECK(line.substr(26) == "Z warning route: no channel left\n");
  CHECK(stderr_of([] { log_error("a", "b"); }).substr(26) == "Z error a: b\n");
}

TEST_CASE("what comes from outside cannot forge a line or move the cursor") {
  const std::string line = stderr_of([] { log_info("http", "a\nb\x1b[2J\x7f\xc3\xa9"); });
  CHECK(line.substr(26) == "Z info http: a\\x0ab\\x1b[2J\\x7f\xc3\xa9\n");
}

TEST_CASE("lines below the level are dropped") {
  const LogLevel before = log_level();
  CHECK(stderr_of([] { log(LogLevel::kDebug, "a", "b"); }).empty());
  set_log_level(LogLevel::kDebug);
  CHECK_FALSE(stderr_of([] { log(LogLevel::kDebug, "a", "b"); }).empty());
  set_log_level(LogLevel::kError);
  CHECK(stderr_of([] { log_warning("a", "b"); }).empty());
  set_log_level(before);
}

}  // namespace
}  // namespace hw
