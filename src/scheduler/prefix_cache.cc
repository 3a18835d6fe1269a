#include "scheduler/prefix_cache.h"

#include <bit>

#include "base/assert.h"

namespace hw::scheduler {

PrefixCache::PrefixCache(int64_t blocks) {
  const auto count = static_cast<size_t>(blocks);
  entries_.resize(count);
  buckets_.assign(std::bit_ceil(2 * count), kNullBlock);  // at most half full: short probes
  mask_ = buckets_.size() - 1;
  per_place_.resize(count);
}

BlockId PrefixCache::find(const BlockHash& hash) const {
  return buckets_[bucket_of(hash)];
}

void PrefixCache::insert(BlockId block, const BlockHash& hash, int place) {
  Entry& entry = at(block);
  HW_ASSERT(entry.place < 0 && place >= 0 && place < static_cast<int>(per_place_.size()));
  entry = {hash, place, kNullBlock, block};
  ++size_;
  ++per_place_[static_cast<size_t>(place)];
  BlockId& first = buckets_[bucket_of(hash)];
  if (first == kNullBlock) {
    first = block;
  } else {
    at(at(first).last).next = block;
    at(first).last = block;
  }
}

void PrefixCache::erase(BlockId block) {
  Entry& entry = at(block);
  HW_ASSERT(entry.place >= 0);
  const size_t bucket = bucket_of(entry.hash);
  const BlockId first = buckets_[bucket];
  if (first == block) {
    if (entry.next == kNullBlock) {
      empty_bucket(bucket);
    } else {
      at(entry.next).last = entry.last;
      buckets_[bucket] = entry.next;
    }
  } else {
    BlockId before = first;
    while (at(before).next != block) before = at(before).next;
    at(before).next = entry.next;
    if (at(first).last == block) at(first).last = before;
  }
  --size_;
  --per_place_[static_cast<size_t>(entry.place)];
  entry = {};
}

// Where the hash is, or the empty bucket where it would be.
size_t PrefixCache::bucket_of(const BlockHash& hash) const {
  size_t bucket = home_of(hash);
  while (buckets_[bucket] != kNullBlock && at(buckets_[bucket]).hash != hash) {
    bucket = (bucket + 1) & mask_;
  }
  return bucket;
}

// Moves later entries of the same run up, so that no search stops short of them.
void PrefixCache::empty_bucket(size_t bucket) {
  size_t hole = bucket;
  for (size_t i = (hole + 1) & mask_; buckets_[i] != kNullBlock; i = (i + 1) & mask_) {
    const size_t home = home_of(at(buckets_[i]).hash);
    const bool reaches_hole = ((i - home) & mask_) >= ((i - hole) & mask_);
    if (!reaches_hole) continue;
    buckets_[hole] = buckets_[i];
    hole = i;
  }
  buckets_[hole] = kNullBlock;
}

}  // namespace hw::scheduler
