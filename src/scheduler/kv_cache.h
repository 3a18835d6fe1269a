// KvCache: gives blocks to sequences and takes them back, and finds the beginnings that are cached.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/block_pool.h"
#include "scheduler/options.h"
#include "scheduler/prefix_cache.h"
#include "scheduler/sequence.h"
#include "scheduler/step_plan.h"

namespace hw::scheduler {

// Blocks that hold the beginning of a sequence.
struct Hits {
  std::vector<BlockId> blocks;
  int free = 0;  // of them, those that nobody refers to
  int tokens() const { return static_cast<int>(blocks.size()) * kBlockTokens; }
};

// Blocks for `tokens` tokens.
inline int64_t blocks_for(int64_t tokens) {
  return (tokens + kBlockTokens - 1) / kBlockTokens;
}

// The pool and the prefix cache together, as vLLM's KVCacheManager.
class KvCache {
 public:
  explicit KvCache(const Options& options);

  // Takes over a new sequence's tokens or hashes.
  void hash_prompt(Sequence& sequence) const;
  // After a token was appended: hashes the block that it may have filled.
  void hash_output(Sequence& sequence) const;

  // The longest run of cached full blocks at the sequence's beginning, its last known token left
  // out: that one is computed always, for somebody needs its scores. Valid until the next call.
  const Hits& find(const Sequence& sequence);
  // Gives a sequence without blocks its hits and room for its first `tokens` tokens. False, and
  // nothing changes, unless at least `keep_free` blocks would stay free with room for `reserve`
  // tokens (at least `tokens`), all of which need not be taken.
  bool admit(Sequence& sequence, const Hits& hits, int tokens, int reserve, int64_t keep_free);
  // Room for the first `tokens` tokens of a running sequence. False where blocks are lacking.
  bool grow(Sequence& sequence, int tokens);
  // Takes one more block for a sequence; only while some are free.
  void take_block(Sequence& sequence);
  // Puts the sequence's full computed blocks into the prefix cache.
  void register_full(Sequence& sequence);
  // Takes those of its own out again that hold positions from `tokens` on, whoever refers to them.
  void forget_from(Sequence& sequence, int tokens);
  // Takes all blocks back, the last one first, so that beginnings stay cached longest.
  void release(Sequence& sequence);
  // Takes free blocks for nobody, `count` or as many as there are.
  void lose_blocks(int64_t count);
  // Frees what has more references than `held` says, by block; how many blocks that were.
  int64_t reclaim(std::span<const int> held);
  // Empties the prefix cache, whoever refers to its blocks.
  void forget_all();

  // What changed in the prefix cache since the last call; empty unless it is recorded.
  void take_changes(std::vector<CacheChange>& changes);

  // Which blocks are free.
  const BlockPool& pool() const { return pool_; }
  // nullptr where prefix caching is off.
  const PrefixCache* prefixes() const { return prefixes_ ? &*prefixes_ : nullptr; }

 private:
  friend class SchedulerProbe;  // of tests: plants bugs

  BlockId take();
  void forget(BlockId block);
  bool make_place(int place);

  BlockPool pool_;
  std::optional<PrefixCache> prefixes_;
  HashKey key_;
  int per_place_max_;
  bool records_;
  Hits hits_;
  std::vector<CacheChange> changes_;
};

}  // namespace hw::scheduler
