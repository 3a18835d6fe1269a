// Readers of answers: what an upstream of one of the three dialects says becomes events.
#pragma once

#include <memory>
#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "neutral/event.h"
#include "neutral/stream_reader.h"

namespace hw::translate {

// `dialect` is the upstream's: kOpenaiChat, kOpenaiResponses or kAnthropicMessages.
std::unique_ptr<StreamReader> make_stream_reader(Dialect dialect);

// Reads a whole answer: the events that its stream would have brought, to Finished and Used.
// kUpstreamDialect where it is none; the message says what was missing.
Status read_answer(Dialect dialect, std::string_view body, Events& out);

}  // namespace hw::translate
