#include "base/clock.h"

#include <ctime>

namespace hw {
namespace {

Nanos read_clock(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<Nanos>(t.tv_sec) * kSecond + t.tv_nsec;
}

void append_digits(std::string& out, int64_t value, int width) {
  char digits[20];
  for (int i = width - 1; i >= 0; --i) {
    digits[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  out.append(digits, static_cast<size_t>(width));
}

}  // namespace

Nanos monotonic_ns() {
  return read_clock(CLOCK_MONOTONIC);
}
Nanos wall_ns() {
  return read_clock(CLOCK_REALTIME);
}

void append_rfc3339(std::string& out, Nanos wall) {
  const time_t seconds = static_cast<time_t>(wall / kSecond);
  tm parts;
  gmtime_r(&seconds, &parts);
  append_digits(out, parts.tm_year + 1900, 4);
  out += '-';
  append_digits(out, parts.tm_mon + 1, 2);
  out += '-';
  append_digits(out, parts.tm_mday, 2);
  out += 'T';
  append_digits(out, parts.tm_hour, 2);
  out += ':';
  append_digits(out, parts.tm_min, 2);
  out += ':';
  append_digits(out, parts.tm_sec, 2);
  out += '.';
  append_digits(out, wall % kSecond / kMicrosecond, 6);
  out += 'Z';
}

}  // namespace hw
