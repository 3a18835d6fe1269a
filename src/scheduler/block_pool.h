// BlockPool: which blocks of the KV cache are free, how often each is referred to, and which of the
// free ones is used next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hw::scheduler {

using BlockId = int32_t;                  // 0 to kv_blocks - 1
inline constexpr BlockId kNullBlock = 0;  // never given out; stands for no block

// A block is in the queue of free ones exactly while nobody refers to it. The queue is a doubly
// linked list through the blocks themselves, so that any of them leaves it in constant time. Blocks
// that are cached go to its back and are used again last (least recently used first); others go to
// its front. All operations take constant time and allocate nothing.
class BlockPool {
 public:
  // `blocks` of them, the null block included; at least 2.
  explicit BlockPool(int64_t blocks);

  // Takes the free block that is due, which then has one reference. Only while free_blocks() > 0.
  BlockId take();
  // One reference more; a free block leaves the queue.
  void refer(BlockId block);
  // One reference less; without any the block is free.
  void release(BlockId block);
  // Whether the block's content is worth keeping when it is free. Does not move it in the queue.
  void set_cached(BlockId block, bool cached) { at(block).cached = cached; }
  bool cached(BlockId block) const { return at(block).cached; }

  // How many sequences hold it.
  int references(BlockId block) const { return at(block).references; }
  // Cached blocks that nobody refers to count as free.
  int64_t free_blocks() const { return free_; }
  int64_t used_blocks() const { return usable_blocks() - free_; }
  // All but the null block.
  int64_t usable_blocks() const { return static_cast<int64_t>(blocks_.size()) - 2; }

  // The free block that is due first, and the one after `block`; kNullBlock at the end.
  BlockId first_free() const { return next_free(kNullBlock); }
  BlockId next_free(BlockId block) const {
    const BlockId next = at(block).next;
    return next == tail() ? kNullBlock : next;
  }

 private:
  struct Block {
    BlockId previous = kNullBlock;
    BlockId next = kNullBlock;
    int references = 0;
    bool cached = false;
  };
  Block& at(BlockId block) { return blocks_[static_cast<size_t>(block)]; }
  const Block& at(BlockId block) const { return blocks_[static_cast<size_t>(block)]; }
  void link(BlockId block, BlockId before);
  void unlink(BlockId block);
  BlockId tail() const { return static_cast<BlockId>(blocks_.size()) - 1; }

  std::vector<Block> blocks_;  // the null block is the queue's fake head, the last one its tail
  int64_t free_ = 0;
};

}  // namespace hw::scheduler
