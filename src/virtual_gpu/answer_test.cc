#include "virtual_gpu/answer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "virtual_gpu/text_tokens.h"

using namespace hw;
using namespace hw::virtual_gpu;

namespace {

std::string answer(uint64_t seed, int median, int64_t limit) {
  const TextTokens tokens;
  std::string out;
  for (int64_t i = 0; i < limit; ++i) {
    const engine::Token token = answer_token(seed, i, median);
    if (token == end_token()) break;
    out += tokens.piece(token);
  }
  return out;
}

}  // namespace

TEST_CASE("an answer is its seed's, and words alone") {
  CHECK(answer(7, 0, 50) == answer(7, 0, 50));
  CHECK(answer(7, 0, 50) != answer(8, 0, 50));
  const std::string text = answer(7, 0, 50);
  CHECK(text.size() == 200);
  CHECK(std::all_of(text.begin(), text.end(),
                    [](char c) { return c == ' ' || (c >= 'a' && c <= 'z'); }));
}

TEST_CASE("an answer ends where its length says, and without a median never by itself") {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const int64_t length = answer_length(seed, 20);
    REQUIRE(length >= 1);
    CHECK(answer(seed, 20, 1 << 20).size() == static_cast<size_t>(length) * 4);
    CHECK(answer_length(seed, 0) == -1);
  }
}

TEST_CASE("half of the answers are shorter than the median, and the logarithms spread as told") {
  std::vector<double> lengths;
  for (uint64_t seed = 0; seed < 20'001; ++seed) {
    lengths.push_back(static_cast<double>(answer_length(seed, 256)));
  }
  std::sort(lengths.begin(), lengths.end());
  CHECK(lengths[10'000] == doctest::Approx(256).epsilon(0.03));
  // One standard deviation: 84.1 % are below median · e^0.8.
  CHECK(lengths[16'828] == doctest::Approx(256 * 2.2255).epsilon(0.05));
}
