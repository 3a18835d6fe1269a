#include "flags.h"

#include <cstdio>
#include <cstdlib>

namespace hw::bench {
namespace {

[[noreturn]] void usage(std::string_view known, int status) {
  fprintf(status == 0 ? stdout : stderr, "%.*s", static_cast<int>(known.size()), known.data());
  exit(status);
}

}  // namespace

Flags::Flags(int argc, char** argv, std::string_view known) {
  for (int i = 1; i < argc; i += 2) {
    std::string name = argv[i];
    if (name == "--help") usage(known, 0);
    bool named = name.starts_with("--") && known.find(name + " ") != std::string_view::npos;
    if (!named || i + 1 == argc) {
      fprintf(stderr, "%s: unknown flag or no value\n", name.c_str());
      usage(known, 2);
    }
    values_[name.substr(2)] = argv[i + 1];
  }
}

int64_t Flags::number(const std::string& name, int64_t fallback) const {
  return static_cast<int64_t>(real(name, static_cast<double>(fallback)));
}

double Flags::real(const std::string& name, double fallback) const {
  constexpr double kLargest = 1e12;
  auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  char* end = nullptr;
  double value = strtod(found->second.c_str(), &end);
  if (end == found->second.c_str() || *end != 0 || !(value >= 0 && value <= kLargest)) {
    fprintf(stderr, "--%s: not a number in [0, 10^12]: %s\n", name.c_str(), found->second.c_str());
    exit(2);
  }
  return value;
}

std::string Flags::text(const std::string& name, std::string fallback) const {
  auto found = values_.find(name);
  return found == values_.end() ? std::move(fallback) : found->second;
}

}  // namespace hw::bench
