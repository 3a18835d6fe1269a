#include "command/number_flags.h"

#include "base/text.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {
namespace {

// As short as it can be said: "0.5", "100".
std::string shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

}  // namespace

bool NumberFlags::read(std::string_view flag, int64_t least, int64_t most, int64_t& out) const {
  if (!arguments_.has(flag)) return true;
  int64_t value = 0;
  if (!parse_number(arguments_.value(flag), value) || value < least || value > most) {
    return refuse(flag, concat(least, "..", most));
  }
  out = value;
  return true;
}

bool NumberFlags::read(std::string_view flag, int64_t least, int64_t most, int& out) const {
  int64_t value = out;
  const bool good = read(flag, least, most, value);
  if (good) out = static_cast<int>(value);
  return good;
}

bool NumberFlags::read(std::string_view flag, double least, double most, double& out) const {
  if (!arguments_.has(flag)) return true;
  double value = 0;
  if (!parse_real(arguments_.value(flag), value) || value < least || value > most) {
    return refuse(flag, concat(shortest(least), "..", shortest(most)));
  }
  out = value;
  return true;
}

bool NumberFlags::read(std::string_view flag, double least, double most,
                       std::optional<double>& out) const {
  if (!arguments_.has(flag)) return true;
  double value = 0;
  if (!read(flag, least, most, value)) return false;
  out = value;
  return true;
}

bool NumberFlags::refuse(std::string_view flag, std::string_view expected) const {
  terminal::complain(
      terminal::say(arguments_.language, terminal::Text::kBadFlagValue,
                    {concat("--", flag), std::string(expected), arguments_.value(flag)}));
  return false;
}

}  // namespace hw::cli
