#include "sampler/mixed_prompts.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

namespace hw::sampler {
namespace {

MixedPrompts prompts_of(std::string_view mix, uint64_t seed, uint64_t nonce) {
  return {*parse_mix(mix, 64), std::string(mix), seed, nonce};
}

TEST_CASE("each block of prompts has every kind in its share") {
  MixedPrompts prompts = prompts_of("short=0.8:isl=16,osl=8;long=0.2:isl=500", 7, 1);
  for (int block = 0; block < 5; ++block) {
    std::map<std::string, int> counts;
    for (size_t i = 0; i < MixedPrompts::kBlock; ++i) ++counts[prompts.next().bucket];
    CHECK(counts["short"] == 16);
    CHECK(counts["long"] == 4);
  }
}

TEST_CASE("lengths are those of the kind") {
  MixedPrompts prompts = prompts_of("a=1:isl=500,osl=9;b=1:isl=lognormal:100,0.5,osl=5..6", 1, 1);
  for (int i = 0; i < 100; ++i) {
    const Prompt prompt = prompts.next();
    if (prompt.bucket == "a") {
      CHECK(prompt.max_tokens == 9);
      CHECK(prompt.text.size() >= 2000);
      CHECK(prompt.text.size() < 2300);
    } else {
      CHECK(prompt.max_tokens >= 5);
      CHECK(prompt.max_tokens <= 6);
    }
  }
}

TEST_CASE("one seed gives one order, and no two prompts begin alike") {
  MixedPrompts one(daily_mix(64), "daily", 3, 1), two(daily_mix(64), "daily", 3, 2);
  std::set<std::string> heads;
  for (int i = 0; i < 200; ++i) {
    const Prompt a = one.next(), b = two.next();
    CHECK(a.bucket == b.bucket);
    CHECK(a.text.substr(19) == b.text.substr(19));  // behind the unique head
    heads.insert(a.text.substr(0, 18));
    heads.insert(b.text.substr(0, 18));
  }
  CHECK(heads.size() == 400);
  CHECK(one.digest() == two.digest());
}

TEST_CASE("what is no mix is told with what is expected") {
  for (const std::string_view text : {"", "x", "=1", "a=0", "a=-1", "a=1:isl=0", "a=1:len=3",
                                      "a=1;b", "all=1", "a=x:isl=3", "a=1:isl=3,osl=", "a=nan"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_mix(text, 64).has_value());
  }
}

}  // namespace
}  // namespace hw::sampler
