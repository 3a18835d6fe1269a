#include "terminal/milliseconds.h"

#include <charconv>

namespace hw::terminal {
namespace {

std::string fixed(Nanos ns, int decimals) {
  char digits[48];
  const double ms = static_cast<double>(ns) / static_cast<double>(kMillisecond);
  const auto end =
      std::to_chars(digits, digits + sizeof digits, ms, std::chars_format::fixed, decimals);
  return std::string(digits, end.ptr);
}

}  // namespace

std::string milliseconds(Nanos ns) {
  return ns < 0 ? "-" : fixed(ns, 3);
}

std::string about_ms(Nanos ns) {
  if (ns < 0) return "-";
  if (ns == 0) return "0 ms";
  const int decimals = ns < 10 * kMillisecond ? 3 : ns < kSecond ? 1 : 0;
  return fixed(ns, decimals) + " ms";
}

}  // namespace hw::terminal
