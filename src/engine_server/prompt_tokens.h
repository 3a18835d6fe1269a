// The tokens of what a request gives as its prompt, and what bounds the work of making them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/tokenizer.h"
#include "engine_server/completion_request.h"

namespace hw::engine_server {

// Agents send large tool definitions that are only read over; the text itself is bounded by what an
// instance takes.
inline constexpr uint64_t kBodyBytesMax = 4u << 20;
inline constexpr Nanos kBodyTimeout = 60 * kSecond;
// Longer texts are tokenised beside the loop: about 5 ms of work.
inline constexpr size_t kTokeniseHereMax = 8192;

// Tokenises the conversation or the text, or checks the ids that were given instead. kBadRequest
// where an id is none of the vocabulary or the chat template refuses the conversation. Any thread.
Result<std::vector<engine::Token>> prompt_tokens(const CompletionRequest& request,
                                                 const engine::Tokenizer& tokenizer);

}  // namespace hw::engine_server
