// Writers of answers: events become the answer that a client of one of the three dialects expects,
// as a stream or whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/error.h"
#include "translate/event.h"
#include "translate/fidelity.h"
#include "translate/tool_names.h"

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

// `dialect` is the client's: kOpenaiChat, kOpenaiResponses or kAnthropicMessages. `fidelity` takes
// what the client's dialect cannot say of the answer.
std::unique_ptr<StreamWriter> make_stream_writer(Dialect dialect, const Reply& reply,
                                                 Fidelity& fidelity);

// Appends the whole answer.
void write_answer(Dialect dialect, const Events& events, const Reply& reply, Fidelity& fidelity,
                  std::string& out);

// The same, each in its file.
std::unique_ptr<StreamWriter> make_chat_stream_writer(const Reply& reply, Fidelity& fidelity);
std::unique_ptr<StreamWriter> make_responses_stream_writer(const Reply& reply, Fidelity& fidelity);
std::unique_ptr<StreamWriter> make_messages_stream_writer(const Reply& reply, Fidelity& fidelity);
void write_chat_answer(const Events& events, const Reply& reply, Fidelity& fidelity,
                       std::string& out);
void write_responses_answer(const Events& events, const Reply& reply, Fidelity& fidelity,
                            std::string& out);
void write_messages_answer(const Events& events, const Reply& reply, Fidelity& fidelity,
                           std::string& out);

}  // namespace hw::translate
