#include "scheduler/invariants.h"

#include <span>
#include <vector>

#include "base/text.h"

namespace hw::scheduler {
namespace {

using Broken = std::string;

Broken broken_item(const StepItem& item) {
  const Sequence& sequence = *item.sequence;
  if (item.count < 1) return concat("sequence ", sequence.number, " is in a step with no token");
  if (sequence.state != State::kRunning || sequence.scheduled != item.count ||
      item.start + item.count != sequence.computed) {
    return concat("sequence ", sequence.number, " does not agree with the step about ", item.count,
                  " tokens from ", item.start, " on");
  }
  if (item.start < item.hit_tokens) {
    return concat("sequence ", sequence.number, " writes into blocks that it shares");
  }
  return {};
}

Broken broken_step(const Scheduler& scheduler) {
  const StepPlan* plan = scheduler.under_way();
  if (plan == nullptr) return {};
  const Options& options = scheduler.options();
  int tokens = 0;
  for (const StepItem& item : plan->items) {
    if (Broken broken = broken_item(item); !broken.empty()) return broken;
    tokens += item.count;
  }
  if (tokens > options.max_num_batched_tokens || tokens != plan->shape.tokens) {
    return concat("a step of ", tokens, " tokens, called ", plan->shape.tokens);
  }
  if (plan->items.size() > static_cast<size_t>(options.max_num_seqs)) {
    return concat("a step of ", plan->items.size(), " sequences");
  }
  return {};
}

Broken broken_running(const Scheduler& scheduler, const Sequence& sequence,
                      std::vector<bool>& slots) {
  const auto say = [&](const char* what) { return concat("sequence ", sequence.number, what); };
  if (sequence.state != State::kRunning) return say(" runs in another state");
  const auto slot = static_cast<size_t>(sequence.slot);
  if (sequence.slot < 0 || slot >= slots.size()) return say(" has no slot");
  if (slots[slot]) return say(" has another's slot");
  slots[slot] = true;
  if (scheduler.under_way() == nullptr && sequence.scheduled != 0) return say(" is in no step");
  if (sequence.computed < 1 || sequence.computed > sequence.length) {
    return say(" is computed beyond what is known of it");
  }
  if (sequence.scheduled == 0 && sequence.pending() < 1) return say(" has nothing to compute");
  if (sequence.length >= sequence.length_end) return say(" is longer than it may be");
  if (sequence.room != static_cast<int>(sequence.blocks.size()) * kBlockTokens ||
      static_cast<int64_t>(sequence.blocks.size()) != blocks_for(sequence.computed)) {
    return concat("sequence ", sequence.number, " has ", sequence.blocks.size(), " blocks for ",
                  sequence.computed, " tokens");
  }
  return {};
}

Broken broken_places(const Scheduler& scheduler) {
  std::vector<bool> slots(static_cast<size_t>(scheduler.options().max_num_seqs));
  for (const Sequence* sequence : scheduler.running()) {
    if (Broken broken = broken_running(scheduler, *sequence, slots); !broken.empty()) return broken;
    if (scheduler.find(sequence->number) != sequence) return "a sequence runs that is not known";
  }
  const std::vector<const Sequence*> waiting = scheduler.waiting();
  for (const Sequence* sequence : waiting) {
    const bool waits = sequence->state == State::kWaiting || sequence->state == State::kPreempted;
    if (!waits || sequence->slot >= 0 || !sequence->blocks.empty() || sequence->computed != 0 ||
        sequence->scheduled != 0) {
      return concat("sequence ", sequence->number, " waits and holds something");
    }
    if (scheduler.find(sequence->number) != sequence) return "a sequence waits that is not known";
  }
  if (scheduler.running().size() + waiting.size() != static_cast<size_t>(scheduler.live())) {
    return concat(scheduler.live(), " sequences live, ", scheduler.running().size(), " run and ",
                  waiting.size(), " wait");
  }
  return {};
}

Broken broken_references(const Scheduler& scheduler) {
  const BlockPool& pool = scheduler.cache().pool();
  std::vector<int> references(static_cast<size_t>(pool.usable_blocks()) + 1);
  for (const Sequence* sequence : scheduler.running()) {
    for (size_t i = 0; i < sequence->blocks.size(); ++i) {
      const BlockId block = sequence->blocks[i];
      if (block <= 0 || block > pool.usable_blocks()) return concat("there is no block ", block);
      ++references[static_cast<size_t>(block)];
      if (static_cast<int>(i) >= sequence->registered && pool.references(block) != 1) {
        return concat("block ", block, " is shared though sequence ", sequence->number,
                      " may write it");
      }
    }
  }
  for (BlockId block = 1; block <= pool.usable_blocks(); ++block) {
    const int counted = references[static_cast<size_t>(block)];
    if (pool.references(block) != counted) {
      return concat("block ", block, " has ", pool.references(block), " references, and ", counted,
                    " sequences hold it");
    }
  }
  return {};
}

Broken broken_queue(const BlockPool& pool) {
  std::vector<bool> seen(static_cast<size_t>(pool.usable_blocks()) + 1);
  int64_t free = 0;
  for (BlockId block = pool.first_free(); block != kNullBlock; block = pool.next_free(block)) {
    if (pool.references(block) != 0) return concat("block ", block, " is free and in use");
    if (seen[static_cast<size_t>(block)]) return concat("block ", block, " is free twice");
    seen[static_cast<size_t>(block)] = true;
    ++free;
  }
  int64_t used = 0;
  for (BlockId block = 1; block <= pool.usable_blocks(); ++block) {
    if (pool.references(block) > 0) ++used;
  }
  if (free != pool.free_blocks() || free + used != pool.usable_blocks()) {
    return concat(free, " blocks are free and ", used, " in use, of ", pool.usable_blocks());
  }
  return {};
}

// The blocks of one sequence against the prefix cache. By induction the last block's hash is enough
// to tell that all are right.
Broken broken_hashes(const Scheduler& scheduler, const Sequence& sequence) {
  const PrefixCache& prefixes = *scheduler.cache().prefixes();
  for (size_t i = 0; i < sequence.blocks.size(); ++i) {
    const BlockId block = sequence.blocks[i];
    const bool registered = static_cast<int>(i) < sequence.registered;
    if (prefixes.has(block) != registered) {
      return concat("block ", block, " is cached otherwise than sequence ", sequence.number,
                    " thinks");
    }
    if (registered && (prefixes.hash_of(block) != sequence.hashes[i] ||
                       prefixes.place_of(block) != static_cast<int>(i))) {
      return concat("block ", block, " of sequence ", sequence.number, " has another hash");
    }
  }
  if (!sequence.has_content || sequence.hashes.empty()) return {};
  const size_t last = sequence.hashes.size() - 1;
  const HashKey& key = scheduler.options().hash_key;
  const BlockHash parent =
      last == 0 ? chain_root(key, sequence.request.cache_salt) : sequence.hashes[last - 1];
  const std::span<const Token> tokens(sequence.tokens);
  const BlockHash right =
      chain_hash(key, parent, tokens.subspan(last * kBlockTokens).first<kBlockTokens>());
  if (right != sequence.hashes[last]) {
    return concat("the last hash of sequence ", sequence.number, " is not that of its tokens");
  }
  return {};
}

Broken broken_cache(const Scheduler& scheduler) {
  const PrefixCache* prefixes = scheduler.cache().prefixes();
  if (prefixes == nullptr) return {};
  const BlockPool& pool = scheduler.cache().pool();
  int64_t registered = 0;
  for (BlockId block = 1; block <= pool.usable_blocks(); ++block) {
    if (prefixes->has(block) != pool.cached(block)) {
      return concat("pool and prefix cache disagree about block ", block);
    }
    if (!prefixes->has(block)) continue;
    ++registered;
    const BlockId found = prefixes->find(prefixes->hash_of(block));
    if (found == kNullBlock || prefixes->hash_of(found) != prefixes->hash_of(block)) {
      return concat("block ", block, " is not found by its hash");
    }
  }
  if (registered != prefixes->size()) {
    return concat(registered, " blocks are cached, ", prefixes->size(), " counted");
  }
  for (const Sequence* sequence : scheduler.running()) {
    if (Broken broken = broken_hashes(scheduler, *sequence); !broken.empty()) return broken;
  }
  return {};
}

}  // namespace

std::string broken_invariant(const Scheduler& scheduler) {
  Broken broken = broken_step(scheduler);
  if (broken.empty()) broken = broken_places(scheduler);
  if (broken.empty()) broken = broken_queue(scheduler.cache().pool());
  if (broken.empty()) broken = broken_references(scheduler);
  if (broken.empty()) broken = broken_cache(scheduler);
  const int64_t used = scheduler.load().blocks_used;
  if (broken.empty() && scheduler.live() == 0 && used != 0) {
    broken = concat("nobody is there and ", used, " blocks are used");
  }
  return broken;
}

}  // namespace hw::scheduler
