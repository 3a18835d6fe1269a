// PrefixLanes: in which of llama.cpp's sequences each cached block is kept.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/backend.h"

namespace hw::llama {

using engine::BlockId;

// The scheduler has blocks; llama.cpp has sequences of positions. A lane is a sequence that is
// never computed: at each place (16 positions) it can keep one block, of whatever chain. So as many
// blocks can be cached at one place as there are lanes, and the scheduler sees to it that there are
// not more (Options::cached_blocks_per_place_max).
class PrefixLanes {
 public:
  // Where a block is kept.
  struct Spot {
    int lane = 0;
    int place = 0;
  };

  explicit PrefixLanes(int lanes) : lanes_(lanes) {}

  // A lane for a block that is not kept, free at its place. It is that of the block kept last, if
  // it can be: blocks of a chain come one after the other, and are then copied in one piece.
  int keep(BlockId block, int place);
  // Forgets a kept block; where it was.
  Spot drop(BlockId block);
  // Of a kept block.
  Spot spot_of(BlockId block) const;
  // Blocks that are kept.
  size_t size() const { return spots_.size(); }

 private:
  int lanes_;
  int last_ = 0;                          // lane of the block kept last
  std::vector<std::vector<bool>> taken_;  // by place, by lane
  std::unordered_map<BlockId, Spot> spots_;
};

}  // namespace hw::llama
