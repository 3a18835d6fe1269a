#include "llama/backend.h"

#include "engine/sampler.h"

namespace hw::llama {

using engine::StepItem;
using engine::StepOutcome;
using engine::StepPlan;
using engine::StepResult;

StepResult CpuBackend::execute(const StepPlan& plan) {
  for (const int slot : plan.release) context_->clear(slot);
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
    const Token token = engine::draw_token(context_->scores(last), *item.sampling, item.output);
    result.sampled.push_back({item.sequence, token, weights_->ends(token)});
  }
  return result;
}

}  // namespace hw::llama
