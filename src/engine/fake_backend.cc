#include "engine/fake_backend.h"

#include <algorithm>
#include <numeric>

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
  limits.requests_max = 16;
  limits.sequences_max = 4;
  limits.step_tokens_max = 64;
  limits.prompt_step_tokens_max = 64;
  limits.cells = 1024;
  limits.model_len_max = 512;
  limits.input_len_max = 511;
  limits.output_tokens_max = 256;
  limits.request_timeout_ns = 120 * kSecond;
  return limits;
}

FakeBackend::FakeBackend(const Limits& limits)
    : limits_(limits),
      held_(static_cast<size_t>(limits.sequences_max)),
      owner_(static_cast<size_t>(limits.sequences_max)) {
  script = [](const StepItem& item) { return static_cast<Token>('a' + item.output.size() % 26); };
}

StepResult FakeBackend::execute(const StepPlan& plan) {
  for (const int slot : plan.release) {
    held_.at(static_cast<size_t>(slot)) = 0;
    owner_[static_cast<size_t>(slot)] = 0;
  }
  int tokens = 0;
  StepResult result;
  result.outcome = interrupted_ ? StepOutcome::kInterrupted : outcome;
  for (const StepItem& item : plan.items) {
    const auto slot = static_cast<size_t>(item.slot);
    HW_ASSERT(slot < held_.size() && !item.tokens.empty());
    HW_ASSERT(owner_[slot] == (item.start == 0 ? 0 : item.sequence));
    HW_ASSERT(held_[slot] == item.start);
    owner_[slot] = item.sequence;
    held_[slot] += static_cast<int>(item.tokens.size());
    tokens += static_cast<int>(item.tokens.size());
    if (result.outcome != StepOutcome::kDone || !item.sample) continue;
    const Token token = script(item);
    result.sampled.push_back({item.sequence, token, token == kFakeEnd});
  }
  HW_ASSERT(tokens == plan.tokens && tokens <= limits_.step_tokens_max);
  HW_ASSERT(cells_held() <= limits_.cells);
  if (clock != nullptr && tokens > 0) clock->advance(step_ns + tokens * token_ns);
  if (result.outcome == StepOutcome::kFailed) result.error = "told to fail";
  return result;
}

int64_t FakeBackend::cells_held() const {
  return std::accumulate(held_.begin(), held_.end(), int64_t{0});
}

int FakeBackend::slots_held() const {
  return static_cast<int>(
      std::count_if(owner_.begin(), owner_.end(), [](auto n) { return n != 0; }));
}

}  // namespace hw::engine
