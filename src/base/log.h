// The process's log: one line a message, to standard error, with time, level and place. Callers
// format with base/text.h; nothing on the data path logs unless something is wrong.
#pragma once

#include <string_view>

namespace hw {

// How much a line matters.
enum class LogLevel : unsigned char { kDebug, kInfo, kWarning, kError };

// Lines below `level` are dropped. Default kInfo.
void set_log_level(LogLevel level);
LogLevel log_level();

// Writes `2026-01-01T00:00:00.000001Z warning route: message` and a newline in one write(2), so
// that lines of several threads do not mix. `where` is the module. Control characters in `message`
// are escaped: what comes from outside cannot forge a line.
void log(LogLevel level, std::string_view where, std::string_view message);

// log() with the level in the name.
inline void log_info(std::string_view where, std::string_view message) {
  log(LogLevel::kInfo, where, message);
}
inline void log_warning(std::string_view where, std::string_view message) {
  log(LogLevel::kWarning, where, message);
}
inline void log_error(std::string_view where, std::string_view message) {
  log(LogLevel::kError, where, message);
}

}  // namespace hw
