// Command line flags of the benchmark's programs: `--name value`, all of them optional.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hw::bench {

class Flags {
 public:
  // `known` is the list for the usage message, one `--name  meaning` a line. Stops the program with
  // it on a flag that it does not name, on a flag without a value, and on --help.
  Flags(int argc, char** argv, std::string_view known);

  // The flag's value, or `fallback`. A number outside [0, 10^12] stops the program.
  int64_t number(const std::string& name, int64_t fallback) const;
  double real(const std::string& name, double fallback) const;
  std::string text(const std::string& name, std::string fallback) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace hw::bench
