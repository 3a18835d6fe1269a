// Sentences of a comparison, in both languages.
#pragma once

#include <string>

#include "comparison/attribution.h"
#include "comparison/verdict.h"
#include "config/language.h"

namespace hw::comparison {

// "+12.3 %", "-0.4 %".
std::string percent(double share);

// The verdict and what it rests on, one or two sentences.
std::string verdict_sentence(const Comparison& comparison, config::Language language);

// "TTFT P95 +38 %: link 71 % [58, 83], queue 22 % [..]; ..." or why it cannot be separated.
std::string attribution_sentence(const Attribution& attribution, config::Language language);

// What a signature says, with its numbers.
std::string evidence_sentence(const Evidence& evidence, config::Language language);

}  // namespace hw::comparison
