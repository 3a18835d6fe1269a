// Health: whether a run looks as a healthy endpoint does, in words, with the reason for each part.
#pragma once

#include <string>
#include <vector>

#include "config/language.h"
#include "runs/summary.h"

namespace hw::sampler {

// What a healthy endpoint keeps, for a model that is talked to: the first token after some hundred
// milliseconds, tokens every some ten milliseconds, and a tail that is of the same order.
inline constexpr double kTtftP50MsMax = 1000;
inline constexpr double kTtftTailRatioMax = 5;  // P99 / P50
inline constexpr double kTpotP50MsMax = 100;
inline constexpr double kTpotTailRatioMax = 10;

// One part of the judgement.
struct HealthPart {
  enum class State : uint8_t { kGood, kBad, kUnknown };
  std::string name;  // "ttft_p50", "ttft_tail", "tpot_p50", "tpot_tail", "errors"
  State state = State::kUnknown;
  std::string english, chinese;  // what was found, against what
  // In one language.
  const std::string& in(config::Language language) const {
    return language == config::Language::kChinese ? chinese : english;
  }
};
// "good", "bad", "unknown".
std::string_view health_state_name(HealthPart::State state);

// The whole judgement: bad where one part is, unknown where none is bad and one is unknown.
struct Health {
  HealthPart::State state = HealthPart::State::kUnknown;
  std::vector<HealthPart> parts;
};

// Judges one bucket, which should be of one kind of request: prompts of one length.
Health judge(const runs::BucketSummary& bucket);

}  // namespace hw::sampler
