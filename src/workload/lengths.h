// Lengths: how many tokens a prompt or an answer has, drawn from a law that one word tells.
#pragma once

#include <string_view>

#include "base/random.h"
#include "base/result.h"

namespace hw::workload {

// The most tokens that are believed.
inline constexpr int kLengthMax = 10'000'000;

// A law of lengths from 1 to kLengthMax.
class Lengths {
 public:
  // What they follow.
  enum class Kind : unsigned char { kFixed, kUniform, kLogNormal, kExponential };

  // Always `tokens`.
  explicit Lengths(int tokens) : kind_(Kind::kFixed), a_(tokens), b_(tokens) {}
  // Uniform, both ends included; 1 <= least <= most.
  static Lengths between(int least, int most) {
    return {Kind::kUniform, double(least), double(most)};
  }
  // "1024"; "512..2048", uniform, both ends included; "lognormal:800,0.9", median and standard
  // deviation of the logarithm; "exponential:300", by mean. kBadRequest with what is expected.
  static Result<Lengths> parse(std::string_view text);

  // The next one.
  int draw(Random& random) const;
  // Of the law, before it is cut to whole tokens.
  double mean() const;

 private:
  Lengths(Kind kind, double a, double b) : kind_(kind), a_(a), b_(b) {}

  Kind kind_;
  double a_, b_;  // fixed: both; uniform: ends; log-normal: median, sigma; exponential: mean
};

}  // namespace hw::workload
