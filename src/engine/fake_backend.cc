#include "engine/fake_backend.h"

#include <algorithm>
#include <cstddef>

#include "base/assert.h"

namespace hw::engine {

std::vector<Token> FakeTokenizer::encode(std::string_view text) const {
  std::vector<Token> tokens;
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

Result<std::vector<Token>> FakeTokenizer::encode_chat(
    const std::vector<ChatMessage>& messages) const {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (message.role == "broken")
      return fail(ErrorCode::kBadRequest, "the template has no such role");
    text += message.role + ":" + message.content + "\n";
  }
  return encode(text);
}

std::string FakeTokenizer::piece(Token token) const {
  return token < kFakeEnd ? std::string(1, static_cast<char>(token)) : std::string();
}

Limits fake_limits() {
  Limits limits;
  limits.scheduling.max_concurrent_requests = 16;
  limits.scheduling.max_num_seqs = 4;
  limits.scheduling.max_num_batched_tokens = 64;
  limits.scheduling.kv_blocks = 65;
  limits.scheduling.max_model_len = 512;
  limits.scheduling.request_timeout_ns = 120 * kSecond;
  limits.scheduling.cache_when = scheduler::CacheWhen::kComputed;
  limits.output_tokens_max = 256;
  return limits;
}

FakeBackend::FakeBackend(const Limits& limits)
    : limits_(limits), slots_(static_cast<size_t>(limits.sequences_max())) {
  script = [](const StepItem& item) { return static_cast<Token>('a' + item.output.size() % 26); };
}

Nanos FakeBackend::predict(const StepPlan& plan) {
  return clock == nullptr ? 0 : step_ns + token_ns * plan.shape.tokens;
}

Status FakeBackend::restart() {
  ++restarts;
  outcome = StepOutcome::kDone;
  interrupted_ = false;
  for (Slot& slot : slots_) slot = {};
  kept_.clear();
  return {};
}

StepResult FakeBackend::execute(const StepPlan& plan) {
  for (const CacheChange& change : plan.cache_changes) follow(change);
  for (const int slot : plan.release) slots_.at(static_cast<size_t>(slot)) = {};
  int tokens = 0;
  for (const StepItem& item : plan.items) {
    compute(item);
    tokens += static_cast<int>(item.tokens.size());
  }
  HW_ASSERT(tokens == plan.shape.tokens && tokens <= limits_.step_tokens_max());
  HW_ASSERT(cells_held() <= limits_.cells());
  if (clock != nullptr && tokens > 0) clock->advance(step_ns + tokens * token_ns);
  StepResult result;
  result.outcome = interrupted_ ? StepOutcome::kInterrupted : outcome;
  if (result.outcome == StepOutcome::kFailed) result.error = "told to fail";
  if (result.outcome != StepOutcome::kDone) return result;
  for (const StepItem& item : plan.items) {
    if (!item.sample) continue;
    const Token token = script(item);
    result.sampled.push_back({item.sequence, token, token == kFakeEnd});
  }
  return result;
}

void FakeBackend::follow(const CacheChange& change) {
  switch (change.kind) {
    case CacheChange::Kind::kKept: {
      const std::vector<Token>& tokens = slots_.at(static_cast<size_t>(change.slot)).tokens;
      const auto from = static_cast<size_t>(change.place) * kBlockTokens;
      HW_ASSERT(from + kBlockTokens <= tokens.size() && !kept_.contains(change.block));
      const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(from);
      kept_[change.block] = {first, first + kBlockTokens};
      return;
    }
    case CacheChange::Kind::kDropped:
      HW_ASSERT(kept_.erase(change.block) == 1);
      return;
  }
}

void FakeBackend::compute(const StepItem& item) {
  Slot& slot = slots_.at(static_cast<size_t>(item.slot));
  HW_ASSERT(!item.tokens.empty());
  if (item.start == item.hit_tokens) {
    HW_ASSERT(slot.owner == 0 && slot.tokens.empty());
    slot.owner = item.sequence;
    for (int place = 0; place * kBlockTokens < item.hit_tokens; ++place) {
      const std::vector<Token>& kept = kept_.at(item.blocks[static_cast<size_t>(place)]);
      slot.tokens.insert(slot.tokens.end(), kept.begin(), kept.end());
    }
  }
  HW_ASSERT(slot.owner == item.sequence);
  HW_ASSERT(slot.tokens.size() == static_cast<size_t>(item.start));
  slot.tokens.insert(slot.tokens.end(), item.tokens.begin(), item.tokens.end());
  slot.blocks.assign(item.blocks.begin(), item.blocks.end());
  HW_ASSERT(slot.blocks.size() * kBlockTokens >= slot.tokens.size());
}

int64_t FakeBackend::cells_held() const {
  std::map<BlockId, int64_t> filled;
  for (const Slot& slot : slots_) {
    for (size_t i = 0; i < slot.blocks.size(); ++i) {
      const auto before = static_cast<int64_t>(i) * kBlockTokens;
      filled[slot.blocks[i]] =
          std::min<int64_t>(kBlockTokens, static_cast<int64_t>(slot.tokens.size()) - before);
    }
  }
  int64_t cells = 0;
  for (const auto& [block, count] : filled) cells += count;
  return cells;
}

int FakeBackend::slots_held() const {
  return static_cast<int>(std::count_if(slots_.begin(), slots_.end(),
                                        [](const Slot& slot) { return slot.owner != 0; }));
}

}  // namespace hw::engine
