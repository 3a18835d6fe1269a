#include "workload/lengths.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "workload/draw.h"

namespace hw::workload {
namespace {

constexpr double kSigmaMax = 5;

tl::unexpected<Error> wrong(std::string_view text) {
  return fail(ErrorCode::kBadRequest,
              concat("\"", text,
                     "\" is no length: expected tokens (1024), a range (512..2048), "
                     "lognormal:MEDIAN,SIGMA or exponential:MEAN"));
}

bool parse_tokens(std::string_view text, double& out) {
  int value = 0;
  if (!parse_number(text, value) || value < 1 || value > kLengthMax) return false;
  out = value;
  return true;
}

}  // namespace

Result<Lengths> Lengths::parse(std::string_view text) {
  double a = 0, b = 0;
  if (text.starts_with("lognormal:")) {
    const std::string_view rest = text.substr(10);
    const size_t comma = rest.find(',');
    const bool read = comma != std::string_view::npos && parse_tokens(rest.substr(0, comma), a) &&
                      parse_real(rest.substr(comma + 1), b) && b >= 0 && b <= kSigmaMax;
    if (!read) return wrong(text);
    return Lengths(Kind::kLogNormal, a, b);
  }
  if (text.starts_with("exponential:")) {
    if (!parse_tokens(text.substr(12), a)) return wrong(text);
    return Lengths(Kind::kExponential, a, a);
  }
  if (const size_t dots = text.find(".."); dots != std::string_view::npos) {
    const bool read =
        parse_tokens(text.substr(0, dots), a) && parse_tokens(text.substr(dots + 2), b) && a <= b;
    if (!read) return wrong(text);
    return Lengths(Kind::kUniform, a, b);
  }
  if (!parse_tokens(text, a)) return wrong(text);
  return Lengths(static_cast<int>(a));
}

int Lengths::draw(Random& random) const {
  double value = a_;
  switch (kind_) {
    case Kind::kFixed:
      break;
    case Kind::kUniform:
      return static_cast<int>(a_) +
             static_cast<int>(random.below(static_cast<uint64_t>(b_ - a_) + 1));
    case Kind::kLogNormal:
      value = a_ * std::exp(b_ * draw_normal(random));
      break;
    case Kind::kExponential:
      value = a_ * draw_exponential(random);
      break;
  }
  return static_cast<int>(std::clamp(std::round(value), 1.0, double{kLengthMax}));
}

double Lengths::mean() const {
  switch (kind_) {
    case Kind::kFixed:
    case Kind::kExponential:
      return a_;
    case Kind::kUniform:
      return (a_ + b_) / 2;
    case Kind::kLogNormal:
      return a_ * std::exp(b_ * b_ / 2);
  }
  return a_;
}

}  // namespace hw::workload
