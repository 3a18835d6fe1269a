// Readers of answers: what an upstream of one of the three dialects says becomes events.
#pragma once

#include <memory>
#include <string_view>

#include "base/dialect.h"
#include "base/result.h"
#include "http/sse.h"
#include "translate/event.h"

namespace hw::translate {

// Reads one stream. It is given every event of the stream, whole; what it does not know it leaves
// out, and what comes behind the end too.
//
//   for each SSE event: events.clear(); reader->read(event, events); for (each) writer->write(each)
//   when the stream is over by the dialect's rule (wire::StreamObserver::finished):
//     events.clear(); reader->end(events); ... writer->end()
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  // Appends what `event` says. Views in it are valid until the next call.
  virtual void read(const http::SseEvent& event, Events& out) = 0;
  // The stream is over, as it should be: ends what is still open (BlockEnded, Finished).
  virtual void end(Events& out) = 0;
};

// `dialect` is the upstream's: kOpenaiChat, kOpenaiResponses or kAnthropicMessages.
std::unique_ptr<StreamReader> make_stream_reader(Dialect dialect);

// Reads a whole answer: the events that its stream would have brought, to Finished and Used.
// kUpstreamDialect where it is none; the message says what was missing.
Status read_answer(Dialect dialect, std::string_view body, Events& out);

// The same, each in its file.
std::unique_ptr<StreamReader> make_chat_stream_reader();
std::unique_ptr<StreamReader> make_responses_stream_reader();
std::unique_ptr<StreamReader> make_messages_stream_reader();
Status read_chat_answer(json::Object root, Events& out);
Status read_responses_answer(json::Object root, Events& out);
Status read_messages_answer(json::Object root, Events& out);

}  // namespace hw::translate
