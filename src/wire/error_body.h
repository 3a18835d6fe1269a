// Bodies and events that the gateway itself writes, in the shape of the route's dialect: errors,
// error events, heartbeats.
#pragma once

#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/error.h"
#include "wire/spoken_error.h"
#include "wire/stream_observer.h"

namespace hw::wire {

// The body of an error answer, appended. OpenAI: {"error": {"message", "type", "param", "code"}};
// Anthropic: {"type": "error", "error": {"type", "message"}, "request_id"}.
void append_error_body(std::string& out, Dialect dialect, const SpokenError& error,
                       std::string_view request_id);
// The same for an error of ours; types and codes are those of base/error.h.
void append_error_body(std::string& out, Dialect dialect, const Error& error,
                       std::string_view request_id);

// The same inside a stream that has begun, appended at an event boundary; nothing may follow it.
// chat, completions: a data line with `error` and no [DONE]; messages: `event: error`; responses:
// `event: response.failed` that continues the id and the sequence number which `observer` has seen.
// `observer` may be null, or have seen nothing.
void append_error_event(std::string& out, Dialect dialect, const SpokenError& error,
                        std::string_view request_id, const StreamObserver* observer);
void append_error_event(std::string& out, Dialect dialect, const Error& error,
                        std::string_view request_id, const StreamObserver* observer);

// What keeps a silent stream alive, appended at an event boundary: a `ping` event (messages), a
// comment (chat, completions); for responses a comment before response.created, afterwards a
// repeated response.in_progress with the last sequence number, since Codex counts events only, and
// once output has begun a `keepalive` event: the SDKs take the object of an in_progress for all
// that there is (docs/adr/0011-what-keeps-a-responses-stream-alive.md).
void append_heartbeat(std::string& out, Dialect dialect, const StreamObserver* observer);

// The 404 for a model that no channel serves, worded as clients know it.
Error unknown_model(std::string_view model);

}  // namespace hw::wire
