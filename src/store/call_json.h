// The call as JSON, exactly as docs promise it (`GET /api/calls/{id}`, `headway trace --json`), and
// as one line of the access log.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "timeline/call.h"

namespace hw::store {

// Appends one JSON object, without a line feed. Absent values are null; stages come from
// timeline::stages(). Strings are made valid UTF-8.
void append_call_json(std::string& out, const timeline::Call& call);

// Reads what append_call_json() wrote; unknown fields are ignored, missing ones are absent. Derived
// figures (stages, ttft_ns) are not read: they follow from the stamps. kBadRequest where it is no
// such object.
Result<timeline::Call> parse_call_json(std::string_view text);

// Appends one line with its line feed: id, trace_id, key, model, channel, dialect, outcome, status,
// error, the four time stamps, total_ms, ttft_ms, tokens_input, tokens_output.
void append_access_log(std::string& out, const timeline::Call& call);

}  // namespace hw::store
