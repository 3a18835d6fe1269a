// StreamWriter: events of the neutral form become the stream that a client of one dialect expects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "neutral/event.h"
#include "neutral/tool_names.h"

namespace hw::translate {

// What an answer needs to know beside its events. Outlives the writer.
struct Reply {
  std::string_view model;  // as the client asked for it; answers echo it
  // Ours, "req_...": ids of answers and items are made of it where the upstream's do not fit.
  std::string_view request_id;
  int64_t created_s = 0;             // seconds since 1970
  bool include_usage = false;        // chat streams: the client asked for the usage chunk
  bool encrypted_reasoning = false;  // responses: the client asked for it
  // Where the upstream tells no usage: an estimate of the input; the output is estimated by the
  // writer at four bytes a token.
  int64_t input_estimate = 0;
  ToolNames tools;  // of the request
  // What was asked for, for dialects that repeat it: numbers as they were written, empty: absent.
  std::optional<int64_t> max_tokens;
  std::string temperature, top_p;
};

// Writes one stream. Everything appended ends at an event's end.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // Appends what the client is told of `event`, at once: nothing is held back but what the dialect
  // orders otherwise (usage and the reason of the end).
  virtual void write(const Event& event, std::string& out) = 0;
  // The answer is complete: appends the dialect's final events.
  virtual void end(std::string& out) = 0;
  // The answer broke: appends the dialect's error event, after which nothing follows. Blocks that
  // are open stay open.
  virtual void fail(const Error& error, std::string& out) = 0;
  // Keeps a silent stream alive; see wire::append_heartbeat.
  virtual void heartbeat(std::string& out) = 0;
  // Failed came as an event: what the upstream said, and nothing follows.
  virtual bool failed() const = 0;
};

}  // namespace hw::translate
