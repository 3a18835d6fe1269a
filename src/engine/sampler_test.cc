#include "engine/sampler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace hw::engine {
namespace {

// Draws the n-th token of an answer for n = 0, 1, 2, ... and counts.
std::map<Token, int> draw_many(const std::vector<float>& scores, const Sampling& sampling, int n) {
  std::map<Token, int> counts;
  std::vector<Token> output;
  for (int i = 0; i < n; ++i) {
    std::vector<float> copy = scores;
    ++counts[draw_token(copy, sampling, output)];
    output.push_back(0);
  }
  return counts;
}

TEST_CASE("temperature 0 takes the best token") {
  std::vector<float> scores = {0.5f, 3.0f, 2.9f, -1.0f};
  Sampling sampling;
  sampling.temperature = 0;
  CHECK(draw_token(scores, sampling, {}) == 1);
}

TEST_CASE("a bias moves a token to the front, or out of reach") {
  std::vector<float> scores = {0.5f, 3.0f, 2.9f, -1.0f};
  Sampling sampling;
  sampling.temperature = 0;
  sampling.bias = {{3, 100.0f}, {1, -100.0f}, {77, 5.0f}};  // one that is no token
  CHECK(draw_token(scores, sampling, {}) == 3);
}

TEST_CASE("a repetition penalty counts what was asked and what was said, once each") {
  Sampling sampling;
  sampling.temperature = 0;
  sampling.repetition_penalty = 2.0f;
  std::vector<float> scores = {4.0f, 3.0f, 2.5f};
  const std::vector<Token> prompt = {0, 0, 0}, output = {1, 1};
  CHECK(draw_token(scores, sampling, output, prompt) == 2);  // 2, 1.5 and 2.5
  std::vector<float> below = {-1.0f, -1.5f};
  CHECK(draw_token(below, sampling, {}, prompt) == 1);  // -2 and -1.5
}

TEST_CASE("min_p keeps those with that share of the best one's chance") {
  const std::vector<float> scores = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  Sampling sampling;
  sampling.min_p = 0.5f;  // 0.2 is less than half of 0.5
  auto counts = draw_many(scores, sampling, 10'000);
  CHECK(counts[2] == 0);
  CHECK(counts[0] == doctest::Approx(6'250).epsilon(0.05));
}

TEST_CASE("temperature 1 draws in proportion to the probabilities") {
  const std::vector<float> scores = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  Sampling sampling;
  sampling.seed = 42;
  auto counts = draw_many(scores, sampling, 20'000);
  CHECK(counts[0] == doctest::Approx(10'000).epsilon(0.05));
  CHECK(counts[1] == doctest::Approx(6'000).epsilon(0.05));
  CHECK(counts[2] == doctest::Approx(4'000).epsilon(0.05));
}

TEST_CASE("a low temperature sharpens and a high one flattens") {
  const std::vector<float> scores = {std::log(0.6f), std::log(0.4f)};
  Sampling cold, hot;
  cold.temperature = 0.25f;
  hot.temperature = 2.0f;
  CHECK(draw_many(scores, cold, 5'000)[0] > 4'000);  // (0.6/0.4)^4 = 5.06 to 1
  CHECK(draw_many(scores, hot, 5'000)[1] > 2'100);   // sqrt(1.5) to 1
}

TEST_CASE("top_k and top_p leave only the best tokens") {
  const std::vector<float> scores = {std::log(0.1f), std::log(0.4f), std::log(0.2f),
                                     std::log(0.3f)};
  Sampling k;
  k.top_k = 2;
  for (const auto& [token, count] : draw_many(scores, k, 2'000)) CHECK((token == 1 || token == 3));
  Sampling p;
  p.top_p = 0.75f;  // 0.4 + 0.3 are not enough, 0.2 is needed
  auto counts = draw_many(scores, p, 2'000);
  CHECK(counts.size() == 3);
  CHECK_FALSE(counts.contains(0));
  p.top_p = 0.05f;  // less than the best one has: it alone
  CHECK(draw_many(scores, p, 200).size() == 1);
}

TEST_CASE("the same seed and place give the same token, another seed another answer") {
  const std::vector<float> scores(1000, 0.0f);
  const auto answer = [&scores](uint64_t seed) {
    Sampling sampling;
    sampling.seed = seed;
    std::vector<Token> output;
    for (int i = 0; i < 50; ++i) {
      std::vector<float> copy = scores;
      output.push_back(draw_token(copy, sampling, output));
    }
    return output;
  };
  CHECK(answer(1) == answer(1));
  CHECK(answer(1) != answer(2));
}

TEST_CASE("penalties push away from what was generated") {
  std::vector<float> scores = {2.0f, 1.9f, 0.0f};
  Sampling sampling;
  sampling.temperature = 0;
  sampling.presence_penalty = 0.5f;
  const std::vector<Token> output = {0};
  CHECK(draw_token(scores, sampling, output) == 1);
  scores = {2.0f, 1.0f, 0.0f};
  sampling.presence_penalty = 0;
  sampling.frequency_penalty = 0.4f;
  const std::vector<Token> often = {0, 0, 0};
  CHECK(draw_token(scores, sampling, often) == 1);
}

TEST_CASE("scores that are no numbers are not drawn and do no harm") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float minus = -std::numeric_limits<float>::infinity();
  std::vector<float> scores = {nan, 1.0f, minus, nan};
  Sampling sampling;
  CHECK(draw_token(scores, sampling, {}) == 1);
  std::vector<float> all_bad = {nan, nan};
  CHECK(draw_token(all_bad, sampling, {}) >= 0);
  std::vector<float> none = {minus, minus};
  CHECK(draw_token(none, sampling, {}) == 0);
}

}  // namespace
}  // namespace hw::engine
