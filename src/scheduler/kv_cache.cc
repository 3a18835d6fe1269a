#include "scheduler/kv_cache.h"

#include <algorithm>

#include "base/assert.h"

namespace hw::scheduler {

KvCache::KvCache(const Options& options)
    : pool_(options.kv_blocks),
      key_(options.hash_key),
      per_place_max_(options.cached_blocks_per_place_max),
      records_(options.cache_when == CacheWhen::kComputed) {
  if (options.enable_prefix_caching) prefixes_.emplace(options.kv_blocks);
}

void KvCache::hash_prompt(Sequence& sequence) const {
  if (!prefixes_) return;
  if (!sequence.has_content) {
    sequence.hashes = std::move(sequence.request.prompt_hashes);
    const auto full = static_cast<size_t>(sequence.prompt_tokens / kBlockTokens);
    if (sequence.hashes.size() > full) sequence.hashes.resize(full);
    return;
  }
  sequence.hashes.reserve(static_cast<size_t>(sequence.length_end / kBlockTokens));
  BlockHash parent = chain_root(key_, sequence.request.cache_salt);
  const std::span<const Token> tokens(sequence.tokens);
  for (size_t at = 0; at + kBlockTokens <= tokens.size(); at += kBlockTokens) {
    parent = chain_hash(key_, parent, tokens.subspan(at).first<kBlockTokens>());
    sequence.hashes.push_back(parent);
  }
}

void KvCache::hash_output(Sequence& sequence) const {
  if (!prefixes_ || !sequence.has_content || sequence.length % kBlockTokens != 0) return;
  const BlockHash parent = sequence.hashes.empty() ? chain_root(key_, sequence.request.cache_salt)
                                                   : sequence.hashes.back();
  const std::span<const Token> tokens(sequence.tokens);
  sequence.hashes.push_back(chain_hash(key_, parent, tokens.last<kBlockTokens>()));
}

const Hits& KvCache::find(const Sequence& sequence) {
  hits_.blocks.clear();
  hits_.free = 0;
  if (!prefixes_) return hits_;
  const size_t most =
      std::min(sequence.hashes.size(), static_cast<size_t>((sequence.length - 1) / kBlockTokens));
  for (size_t i = 0; i < most; ++i) {
    const BlockId block = prefixes_->find(sequence.hashes[i]);
    if (block == kNullBlock) break;
    hits_.blocks.push_back(block);
    if (pool_.references(block) == 0) ++hits_.free;
  }
  return hits_;
}

bool KvCache::admit(Sequence& sequence, const Hits& hits, int tokens, int reserve,
                    int64_t keep_free) {
  HW_ASSERT(sequence.blocks.empty() && reserve >= tokens && tokens > hits.tokens());
  const int64_t fresh = blocks_for(reserve) - static_cast<int64_t>(hits.blocks.size());
  if (fresh + hits.free + keep_free > pool_.free_blocks()) return false;
  for (const BlockId block : hits.blocks) {
    pool_.refer(block);
    sequence.blocks.push_back(block);
  }
  sequence.room = hits.tokens();
  sequence.registered = static_cast<int>(hits.blocks.size());
  while (sequence.room < tokens) take_block(sequence);
  return true;
}

bool KvCache::grow(Sequence& sequence, int tokens) {
  if (tokens <= sequence.room) return true;
  const int64_t missing = blocks_for(tokens) - static_cast<int64_t>(sequence.blocks.size());
  if (missing > pool_.free_blocks()) return false;
  while (sequence.room < tokens) take_block(sequence);
  return true;
}

void KvCache::take_block(Sequence& sequence) {
  sequence.blocks.push_back(take());
  sequence.room += kBlockTokens;
}

void KvCache::register_full(Sequence& sequence) {
  if (!prefixes_) return;
  const int full =
      std::min(sequence.computed / kBlockTokens, static_cast<int>(sequence.hashes.size()));
  for (int& place = sequence.registered; place < full; ++place) {
    if (!make_place(place)) return;  // its later blocks would not be found without this one
    const auto index = static_cast<size_t>(place);
    const BlockId block = sequence.blocks[index];
    prefixes_->insert(block, sequence.hashes[index], place);
    pool_.set_cached(block, true);
    if (records_) changes_.push_back({CacheChange::Kind::kKept, block, sequence.slot, place});
  }
}

void KvCache::forget_from(Sequence& sequence, int tokens) {
  while (sequence.registered > tokens / kBlockTokens) {
    forget(sequence.blocks[static_cast<size_t>(--sequence.registered)]);
  }
}

void KvCache::release(Sequence& sequence) {
  for (size_t i = sequence.blocks.size(); i-- > 0;) pool_.release(sequence.blocks[i]);
  sequence.blocks.clear();
  sequence.room = 0;
  sequence.registered = 0;
}

void KvCache::lose_blocks(int64_t count) {
  for (; count > 0 && pool_.free_blocks() > 0; --count) take();
}

int64_t KvCache::reclaim(std::span<const int> held) {
  int64_t freed = 0;
  for (BlockId block = 1; block <= pool_.usable_blocks(); ++block) {
    const int rightly = held[static_cast<size_t>(block)];
    if (pool_.references(block) > rightly && rightly == 0) ++freed;
    while (pool_.references(block) > rightly) pool_.release(block);
  }
  return freed;
}

void KvCache::forget_all() {
  if (!prefixes_) return;
  for (int64_t block = 1; block <= pool_.usable_blocks(); ++block) {
    forget(static_cast<BlockId>(block));
  }
}

void KvCache::take_changes(std::vector<CacheChange>& changes) {
  changes.clear();
  changes.swap(changes_);
}

BlockId KvCache::take() {
  const BlockId block = pool_.take();
  if (prefixes_) forget(block);
  return block;
}

// Takes a block out of the prefix cache if it is there.
void KvCache::forget(BlockId block) {
  if (!prefixes_->has(block)) return;
  prefixes_->erase(block);
  pool_.set_cached(block, false);
  if (records_) changes_.push_back({CacheChange::Kind::kDropped, block, -1, -1});
}

// Room for one more cached block at a place, if need be at the cost of the one there that was used
// least recently.
bool KvCache::make_place(int place) {
  if (per_place_max_ == 0 || prefixes_->at_place(place) < per_place_max_) return true;
  for (BlockId block = pool_.first_free(); block != kNullBlock; block = pool_.next_free(block)) {
    if (!prefixes_->has(block) || prefixes_->place_of(block) != place) continue;
    forget(block);
    return true;
  }
  return false;
}

}  // namespace hw::scheduler
