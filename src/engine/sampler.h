// Draws the next token from a model's scores.
#pragma once

#include <span>

#include "engine/request.h"

namespace hw::engine {

// `scores` has one logit for each token of the vocabulary and is left changed; `output` are the
// tokens generated so far, behind those of `prompt`, which the repetition penalty counts too. A
// pure function: the draw depends on the seed and on how many tokens there are already, so that a
// sequence that is computed again goes on as it was. Scores that are not a number are never drawn;
// token 0 where there is no other.
Token draw_token(std::span<float> scores, const Sampling& sampling, std::span<const Token> output,
                 std::span<const Token> prompt = {});

}  // namespace hw::engine
