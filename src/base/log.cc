#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "base/clock.h"

namespace hw {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "?";
}

void append_escaped(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

}  // namespace

void set_log_level(LogLevel level) {
  g_level.store(level, std::memory_order_relaxed);
}
LogLevel log_level() {
  return g_level.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view where, std::string_view message) {
  if (level < log_level()) return;
  std::string line;
  line.reserve(64 + message.size());
  append_rfc3339(line, wall_ns());
  line += ' ';
  line += level_name(level);
  line += ' ';
  line += where;
  line += ": ";
  append_escaped(line, message);
  line += '\n';
  // Nothing sensible is left to do when standard error is closed.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace hw
