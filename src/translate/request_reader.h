// Readers of requests: a body of one of the three dialects becomes a Request.
#pragma once

#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "neutral/request.h"

namespace hw::translate {

// Reads `body`, which stays where it is as long as `out` is used. `dialect` is kOpenaiChat,
// kOpenaiResponses or kAnthropicMessages. Every byte is looked at: what is copied raw later is
// valid JSON. kBadRequest where the body is no JSON object, or where a part that cannot be left out
// has another shape than the dialect's; the message names the field ("messages[2].content").
// Members and parts that the dialect does not know become OtherField and kForeign, never errors.
Status read_request(Dialect dialect, std::string_view body, Request& out);

}  // namespace hw::translate
