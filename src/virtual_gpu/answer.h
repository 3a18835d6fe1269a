// Answer: the words of a model that is not there, and how many of them, by the seed alone.
#pragma once

#include <cstdint>

#include "engine/request.h"

namespace hw::virtual_gpu {

// The token at `position` of the answer with this seed: a short English word with its blank, or the
// end where a model would have come to one. Lengths are log-normal (as published traces of chats
// have them) with the median `median_tokens` and a standard deviation of the logarithm of
// kLengthSpread; median 0: no answer ends by itself.
inline constexpr double kLengthSpread = 0.8;
engine::Token answer_token(uint64_t seed, int64_t position, int median_tokens);

// At which position the answer ends by itself; -1: never.
int64_t answer_length(uint64_t seed, int median_tokens);

}  // namespace hw::virtual_gpu
