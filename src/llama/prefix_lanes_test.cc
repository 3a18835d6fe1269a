#include "llama/prefix_lanes.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <utility>

#include "base/random.h"

namespace hw::llama {
namespace {

TEST_CASE("blocks of one chain are kept in one lane, a second chain in another") {
  PrefixLanes lanes(2);
  CHECK(lanes.keep(10, 0) == 0);
  CHECK(lanes.keep(11, 1) == 0);
  CHECK(lanes.keep(20, 0) == 1);
  CHECK(lanes.keep(21, 1) == 1);
  CHECK(lanes.spot_of(21).place == 1);
  CHECK(lanes.drop(11).lane == 0);
  CHECK(lanes.keep(30, 1) == 0);  // the only one that is free there
  CHECK(lanes.size() == 4);
}

TEST_CASE("no two blocks ever share a lane's place") {
  PrefixLanes lanes(5);
  Random random(3);
  std::map<BlockId, std::pair<int, int>> kept;
  std::set<std::pair<int, int>> spots;
  std::map<int, int> at_place;
  for (int i = 0; i < 20'000; ++i) {
    const auto block = static_cast<BlockId>(random.below(60));
    const auto place = static_cast<int>(random.below(8));
    if (const auto found = kept.find(block); found != kept.end()) {
      const PrefixLanes::Spot spot = lanes.drop(block);
      REQUIRE(std::pair(spot.lane, spot.place) == found->second);
      --at_place[spot.place];
      spots.erase(found->second);
      kept.erase(found);
    } else if (at_place[place] < 5) {
      const std::pair spot(lanes.keep(block, place), place);
      REQUIRE(spot.first < 5);
      REQUIRE(spots.insert(spot).second);
      ++at_place[place];
      kept[block] = spot;
    }
  }
  CHECK(lanes.size() == kept.size());
}

}  // namespace
}  // namespace hw::llama
