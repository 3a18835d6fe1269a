#include "scheduler/prefix_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace hw::scheduler {
namespace {

TEST_CASE("of several blocks with one hash the first to be registered is found") {
  PrefixCache cache(10);
  const BlockHash hash = {7, 1};
  CHECK(cache.find(hash) == kNullBlock);
  for (const BlockId block : {4, 2, 9}) cache.insert(block, hash, 3);
  CHECK(cache.find(hash) == 4);
  CHECK(cache.at_place(3) == 3);
  cache.erase(4);
  CHECK(cache.find(hash) == 2);
  cache.erase(9);
  cache.insert(4, hash, 3);
  cache.erase(2);
  CHECK(cache.find(hash) == 4);
  cache.erase(4);
  CHECK(cache.find(hash) == kNullBlock);
  CHECK(cache.size() == 0);
  CHECK(cache.at_place(3) == 0);
}

TEST_CASE("whatever is registered and taken out, the same is found as in a map") {
  constexpr int kBlocks = 64;
  PrefixCache cache(kBlocks);
  std::map<uint64_t, std::vector<BlockId>> expected;
  std::map<BlockId, uint64_t> registered;
  Random random(1);
  for (int i = 0; i < 5'000; ++i) {
    const auto block = static_cast<BlockId>(1 + random.below(kBlocks - 1));
    if (const auto found = registered.find(block); found != registered.end()) {
      cache.erase(block);
      std::erase(expected[found->second], block);
      registered.erase(found);
    } else {
      const uint64_t low = random.below(40) * (random.below(2) == 0 ? 1 : 128);  // they collide
      cache.insert(block, {low, 0}, 0);
      expected[low].push_back(block);
      registered[block] = low;
    }
    const bool same = std::all_of(expected.begin(), expected.end(), [&](const auto& entry) {
      const auto& [low, blocks] = entry;
      return cache.find({low, 0}) == (blocks.empty() ? kNullBlock : blocks.front());
    });
    REQUIRE(same);
  }
}

}  // namespace
}  // namespace hw::scheduler
