// MixedPrompts: prompts of several kinds in given shares, each kind with lengths of its own: short
// questions, and long ones that put the same kind of question behind pages of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "sampler/prompt.h"
#include "workload/lengths.h"

namespace hw::sampler {

// One kind of prompt.
struct MixBucket {
  std::string name;
  double weight = 1;              // its share, against those of the others; above 0
  workload::Lengths input{1};     // tokens of the prompt, about; at least its question comes
  workload::Lengths output{256};  // tokens of the answer, at most
};

// Half short and half long, with answers of up to `max_tokens`: the daily run.
std::vector<MixBucket> daily_mix(int max_tokens);
// "short=0.8:isl=128,osl=64;long=0.2:isl=8000,osl=512": a name, its share, and lengths as
// workload::Lengths reads them; osl may be left out and is `max_tokens` then. kConfig with what is
// expected.
Result<std::vector<MixBucket>> parse_mix(std::string_view text, int max_tokens);

// Kinds come in an order drawn from the seed, but so that each run of kBlock prompts has them in
// their shares. Each prompt begins with a few characters that no other run has, so that no engine
// has its beginning in a cache.
class MixedPrompts final : public PromptSource {
 public:
  static constexpr size_t kBlock = 20;
  static constexpr size_t kBucketsMax = 32;

  // `seed` decides order, lengths and choice, `nonce` only what makes the prompts unique.
  // Precondition: 1 to kBucketsMax buckets.
  MixedPrompts(std::vector<MixBucket> mix, std::string mix_words, uint64_t seed, uint64_t nonce);

  Prompt next() override;
  std::string mix() const override { return mix_words_; }
  std::string digest() const override;

 private:
  std::string head();
  void refill();

  const std::vector<MixBucket> mix_;
  const std::string mix_words_;
  Random choice_;
  Random unique_;
  std::vector<double> owed_;    // of each bucket, prompts that its share is ahead of
  std::vector<size_t> coming_;  // buckets of the block, the last one next
};

}  // namespace hw::sampler
