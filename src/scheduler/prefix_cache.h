// PrefixCache: full blocks by their hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/block_hash.h"
#include "scheduler/block_pool.h"

namespace hw::scheduler {

// Several blocks may have one hash, where sequences computed the same at once; the first to be
// registered is the one that is found. Open addressing with a fixed size: allocates at construction
// alone, 44 to 52 bytes a block.
class PrefixCache {
 public:
  // For block ids below `blocks`.
  explicit PrefixCache(int64_t blocks);

  // The first registered block of this hash; kNullBlock: none.
  BlockId find(const BlockHash& hash) const;
  // Registers a block that is not registered, the place-th of its sequence.
  void insert(BlockId block, const BlockHash& hash, int place);
  // Takes a registered block out.
  void erase(BlockId block);

  // Of a registered block.
  const BlockHash& hash_of(BlockId block) const { return at(block).hash; }
  int place_of(BlockId block) const { return at(block).place; }
  bool has(BlockId block) const { return at(block).place >= 0; }
  // Registered blocks.
  int64_t size() const { return size_; }
  // Of them, those at one place.
  int at_place(int place) const { return per_place_[static_cast<size_t>(place)]; }

 private:
  struct Entry {
    BlockHash hash;
    int place = -1;             // -1: not registered
    BlockId next = kNullBlock;  // registered after it with the same hash
    BlockId last = kNullBlock;  // of the first of a hash: the one registered last
  };
  Entry& at(BlockId block) { return entries_[static_cast<size_t>(block)]; }
  const Entry& at(BlockId block) const { return entries_[static_cast<size_t>(block)]; }
  size_t home_of(const BlockHash& hash) const { return hash.low & mask_; }
  size_t bucket_of(const BlockHash& hash) const;
  void empty_bucket(size_t bucket);

  std::vector<Entry> entries_;    // by block
  std::vector<BlockId> buckets_;  // the first block of a hash; linear probing
  size_t mask_ = 0;
  std::vector<int> per_place_;  // no sequence has more places than there are blocks
  int64_t size_ = 0;
};

}  // namespace hw::scheduler
