// StreamReader: what an upstream of one dialect says, event by event, becomes events of the neutral
// form.
#pragma once

#include "http/sse.h"
#include "neutral/event.h"

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

}  // namespace hw::translate
