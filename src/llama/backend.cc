#include "llama/backend.h"

#include "engine/sampler.h"

namespace hw::llama {

using engine::StepItem;
using engine::StepOutcome;
using engine::StepPlan;
using engine::StepResult;

StepResult CpuBackend::execute(const StepPlan& plan) {
  for (const engine::CacheChange& change : plan.cache_changes) follow(change);
  for (const int slot : plan.release) context_->clear(slot);
  for (const StepItem& item : plan.items) copy_hits(item);
  StepResult result;
  if (plan.items.empty()) return result;

  tokens_.clear();
  for (const StepItem& item : plan.items) {
    for (size_t i = 0; i < item.tokens.size(); ++i) {
      tokens_.push_back({item.tokens[i], item.start + static_cast<int>(i), item.slot, false});
    }
    tokens_.back().wants_scores = item.sample;
  }
  result.error = context_->decode(tokens_);
  if (!result.error.empty()) {
    result.outcome = context_->interrupted() ? StepOutcome::kInterrupted : StepOutcome::kFailed;
    return result;
  }
  int last = -1;  // of the item's tokens, in the step
  for (const StepItem& item : plan.items) {
    last += static_cast<int>(item.tokens.size());
    if (!item.sample) continue;
    const Token token =
        engine::draw_token(context_->scores(last), *item.sampling, item.output, item.prompt);
    result.sampled.push_back({item.sequence, token, weights_->ends(token)});
  }
  return result;
}

void CpuBackend::interrupt() {
  const std::lock_guard lock(mutex_);
  context_->interrupt();
}

Status CpuBackend::restart() {
  Result<std::unique_ptr<Context>> fresh = weights_->make_context(settings_);
  if (!fresh.has_value()) return fail(fresh.error());
  {
    const std::lock_guard lock(mutex_);
    context_ = std::move(*fresh);
  }
  context_->warm_up();
  lanes_ = PrefixLanes(lane_count_);
  return {};
}

void CpuBackend::follow(const engine::CacheChange& change) {
  switch (change.kind) {
    case engine::CacheChange::Kind::kKept: {
      const int lane = first_lane_ + lanes_.keep(change.block, change.place);
      const int from = change.place * engine::kBlockTokens;
      context_->copy(change.slot, lane, from, from + engine::kBlockTokens);
      return;
    }
    case engine::CacheChange::Kind::kDropped: {
      const PrefixLanes::Spot spot = lanes_.drop(change.block);
      const int from = spot.place * engine::kBlockTokens;
      context_->remove(first_lane_ + spot.lane, from, from + engine::kBlockTokens);
      return;
    }
  }
}

// Neighbouring blocks of one lane in one go.
void CpuBackend::copy_hits(const StepItem& item) {
  const int places = item.hit_tokens / engine::kBlockTokens;
  for (int first = 0; first < places;) {
    const int lane = lanes_.spot_of(item.blocks[static_cast<size_t>(first)]).lane;
    int end = first + 1;
    while (end < places && lanes_.spot_of(item.blocks[static_cast<size_t>(end)]).lane == lane) {
      ++end;
    }
    context_->copy(first_lane_ + lane, item.slot, first * engine::kBlockTokens,
                   end * engine::kBlockTokens);
    first = end;
  }
}

}  // namespace hw::llama
