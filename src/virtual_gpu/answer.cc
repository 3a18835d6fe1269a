#include "virtual_gpu/answer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <string_view>

#include "virtual_gpu/text_tokens.h"

namespace hw::virtual_gpu {
namespace {

// Each is one token: a blank and three letters.
constexpr std::string_view kWords[] = {
    " the", " sky", " was", " red", " and", " old", " one", " day", " far", " sea", " sun", " hat",
    " for", " two", " men", " may", " see", " its", " new", " way", " all", " our", " box", " few",
    " had", " tea", " car", " map", " low", " hum", " ice", " bee", " oak", " pen", " ink", " jar",
};
// So long an answer is no chat any more.
constexpr double kLengthMax = 1e6;

// Steele et al., "Fast splittable pseudorandom number generators", 2014: splitmix64's finisher.
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

// Above 0, at most 1.
double uniform(uint64_t seed) {
  return (static_cast<double>(mixed(seed) >> 11) + 1) * 0x1p-53;
}

// Box and Muller, 1958.
double normal(uint64_t seed) {
  const double radius = std::sqrt(-2 * std::log(uniform(seed)));
  return radius * std::cos(2 * std::numbers::pi * uniform(~seed));
}

}  // namespace

int64_t answer_length(uint64_t seed, int median_tokens) {
  if (median_tokens <= 0) return -1;
  const double length = median_tokens * std::exp(kLengthSpread * normal(seed));
  return static_cast<int64_t>(std::clamp(length, 1.0, kLengthMax));
}

engine::Token answer_token(uint64_t seed, int64_t position, int median_tokens) {
  if (position == answer_length(seed, median_tokens)) return end_token();
  const uint64_t draw = mixed(mixed(seed) + static_cast<uint64_t>(position));
  return token_of(kWords[draw % std::size(kWords)]);
}

}  // namespace hw::virtual_gpu
