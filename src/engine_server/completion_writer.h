// Writes the answers of an instance in OpenAI's shapes: bodies, chunks, and its own durations.
#pragma once

#include <string>
#include <string_view>

#include "base/dialect.h"
#include "engine/core.h"
#include "engine/request.h"

namespace hw::engine_server {

// What is the same in every part of one answer.
struct AnswerIdentity {
  Dialect dialect = Dialect::kOpenaiChat;  // or kOpenaiCompletions
  std::string id;                          // "chatcmpl-...", "cmpl-..."
  std::string model;
  int64_t created_s = 0;  // seconds since 1970
};

// OpenAI's word for how an answer ended: "stop" or "length". Precondition: it ended so.
std::string_view finish_word(engine::FinishReason reason);

// The object `timings` as README.md names its members, appended.
void append_timings(std::string& out, const engine::Record& record);
// The value of a Server-Timing header with the same durations
// (https://www.w3.org/TR/server-timing/); those that are not known are left out.
std::string server_timing(const engine::Record& record);

// The body of an answer that is not streamed.
std::string completion_body(const AnswerIdentity& identity, std::string_view text,
                            const engine::Ending& ending);

// The events of a streamed answer, each with its `data:` and blank line.
class ChunkWriter {
 public:
  // Whether the stream tells the tokens used.
  enum class Usage : uint8_t { kNone, kLastChunk };
  // With kLastChunk every chunk has a `usage` of null, and one without choices comes last.
  ChunkWriter(const AnswerIdentity& identity, Usage usage);

  // Chat's first chunk, with the role; nothing for completions.
  void append_role(std::string& out) const;
  // A piece of the answer.
  void append_text(std::string& out, std::string_view text) const;
  // The chunk with the finish_reason and the timings, the usage where asked for, and [DONE].
  void append_end(std::string& out, const engine::Ending& ending) const;

 private:
  void begin(std::string& out) const;
  void end(std::string& out) const;

  Dialect dialect_;
  Usage usage_;
  std::string prefix_;  // a chunk up to its choices
};

}  // namespace hw::engine_server
