// MixedPrompts: short and long prompts in turn, as the daily run has them: short questions, and
// long ones that put the same kind of question behind some pages of text.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "sampler/prompt.h"

namespace hw::sampler {

// Half short, half long, in an order drawn from the seed. Each prompt begins with a few characters
// that no other run has, so that no engine has its beginning in a cache.
class MixedPrompts final : public PromptSource {
 public:
  // About this many bytes of text stand before a long prompt's question: some 600 tokens.
  static constexpr size_t kLongBytes = 2600;

  // `seed` decides order and choice, `nonce` only what makes the prompts unique.
  MixedPrompts(uint64_t seed, uint64_t nonce, int max_tokens);

  Prompt next() override;
  std::string mix() const override;
  std::string digest() const override;

 private:
  std::string head();

  Random choice_;
  Random unique_;
  const int max_tokens_;
  int short_ahead_ = 0;  // of a pair, the other half is next: +1 short, -1 long
};

}  // namespace hw::sampler
