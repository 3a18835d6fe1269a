// NumberFlags: flags whose values are numbers, read with their bounds and one complaint.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "command/command_line.h"

namespace hw::cli {

// Each function leaves `out` alone where the flag was not given; where its value is no number
// within the bounds it says so on standard error, with what was expected, and is false.
class NumberFlags {
 public:
  explicit NumberFlags(const Arguments& arguments) : arguments_(arguments) {}

  // A whole number.
  bool read(std::string_view flag, int64_t least, int64_t most, int64_t& out) const;
  // Likewise; the bounds fit an int.
  bool read(std::string_view flag, int64_t least, int64_t most, int& out) const;
  // A decimal number.
  bool read(std::string_view flag, double least, double most, double& out) const;
  // Likewise; absent where the flag was not given.
  bool read(std::string_view flag, double least, double most, std::optional<double>& out) const;

  // Says that the flag's value is not what is expected; false.
  bool refuse(std::string_view flag, std::string_view expected) const;

 private:
  const Arguments& arguments_;
};

}  // namespace hw::cli
