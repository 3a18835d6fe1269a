#include "terminal/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/text.h"

namespace hw::terminal {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && fd == STDOUT_FILENO) ::_exit(errno == EPIPE ? 0 : 3);
    if (count < 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace

Colour colour_of_output(const config::Environment& environment) {
  const bool wanted = config::value_of(environment, "NO_COLOR").empty() &&
                      config::value_of(environment, "TERM") != "dumb";
  return wanted && ::isatty(STDOUT_FILENO) == 1 ? Colour::kAnsi : Colour::kNone;
}

int columns_of_output() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

void print(std::string_view text) {
  write_all(STDOUT_FILENO, text);
}

void complain(std::string_view line) {
  write_all(STDERR_FILENO, concat("headway: ", line, "\n"));
}

void note(std::string_view line) {
  write_all(STDERR_FILENO, concat(line, "\n"));
}

}  // namespace hw::terminal
