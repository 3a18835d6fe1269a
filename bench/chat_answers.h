// The chat-completions answers of the benchmark's upstream, as bytes for the wire. Each token
// carries the time at which it was sent, so that a client on the same machine measures its way
// exactly, also through a gateway that parses and writes events anew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hw::bench {

// A whole answer that is not streamed: a chat completion of 1 KB.
std::string_view completion_answer();
// The answer to everything that is not a POST: a list of one model.
std::string_view models_answer();
// The head of a streamed answer, chunked.
std::string_view stream_head();

// One token's event in a chunk of its own. Its text is ` T<sent_ns>`; the first one's is
// ` T<sent_ns>R<received_ns>`, where received_ns is when the whole request had been read. Both on
// CLOCK_MONOTONIC.
void append_first_token(std::string& out, int64_t sent_ns, int64_t received_ns);
void append_token(std::string& out, int64_t sent_ns);

enum class UsageChunk { kNone, kAppended };
// The event with the finish_reason, usage if asked for, `[DONE]` and the last chunk.
void append_stream_end(std::string& out, UsageChunk usage, int64_t tokens);

}  // namespace hw::bench
