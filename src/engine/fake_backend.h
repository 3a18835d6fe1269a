// A backend and a tokenizer without a model: for tests of all that stands above them.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/clock.h"
#include "engine/backend.h"
#include "engine/limits.h"
#include "engine/tokenizer.h"

namespace hw::engine {

// Each byte is a token; kFakeEnd ends an answer.
inline constexpr Token kFakeEnd = 256;

class FakeTokenizer final : public Tokenizer {
 public:
  std::vector<Token> encode(std::string_view text) const override;
  // "role:content\n" for each message. A role "broken" is refused.
  Result<std::vector<Token>> encode_chat(const std::vector<ChatMessage>& messages) const override;
  std::string piece(Token token) const override;
  int vocabulary_size() const override { return kFakeEnd + 1; }
};

// Limits that suit it: 4 sequences, steps of 64 tokens, 64 blocks, 16 requests; no waiting.
Limits fake_limits();

// Keeps what each slot and each cached block holds, and asserts that every plan fits it: positions
// follow on, slots and blocks suffice, hits are there, nothing is computed in a slot that is not
// released.
class FakeBackend final : public Backend {
 public:
  // Gives the next token of an item; by default the letters from 'a' on, by what was generated.
  using Script = std::function<Token(const StepItem&)>;

  explicit FakeBackend(const Limits& limits);
  StepResult execute(const StepPlan& plan) override;
  void interrupt() override { interrupted_ = true; }
  Nanos predict(const StepPlan& plan) override;
  Status restart() override;

  Script script;
  FakeClock* clock = nullptr;           // advanced by what a step costs; none: steps take no time
  Nanos step_ns = kMillisecond;         // cost of a step
  Nanos token_ns = 100 * kMicrosecond;  // and of each token in it
  StepOutcome outcome = StepOutcome::kDone;  // of the next steps
  int restarts = 0;                          // so far; each makes the outcome kDone again
  // Positions that are held, shared ones once; cached blocks that no sequence uses apart.
  int64_t cells_held() const;
  int slots_held() const;
  // All that a slot has computed or been given, in order.
  std::span<const Token> held(int slot) const {
    return slots_.at(static_cast<size_t>(slot)).tokens;
  }

 private:
  struct Slot {
    RequestNumber owner = 0;  // 0: nobody
    std::vector<Token> tokens;
    std::vector<BlockId> blocks;
  };

  void follow(const CacheChange& change);
  void compute(const StepItem& item);

  Limits limits_;
  std::vector<Slot> slots_;
  std::map<BlockId, std::vector<Token>> kept_;  // cached blocks
  std::atomic<bool> interrupted_{false};
};

}  // namespace hw::engine
