// StreamTranslator: a stream of one dialect, read in any pieces, becomes a stream of another.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/error.h"
#include "base/result.h"
#include "http/sse.h"
#include "translate/answer_reader.h"
#include "translate/answer_writer.h"

namespace hw::translate {

// One answer. `reply` and `fidelity` outlive it.
class StreamTranslator {
 public:
  StreamTranslator(Dialect upstream, Dialect client, const Reply& reply, Fidelity& fidelity);

  // Takes the next bytes of the upstream's body; appends what the client is told, whole events.
  // kUpstreamProtocol where an event exceeds the scanner's limit.
  Status feed(std::string_view bytes, std::string& out);
  // The upstream's answer is complete by its dialect's rule: appends the client's final events,
  // unless the upstream reported a failure.
  void end(std::string& out);
  // It broke: appends the client's error event. Nothing may follow.
  void fail(const Error& error, std::string& out);
  // Keeps the client alive.
  void heartbeat(std::string& out) { writer_->heartbeat(out); }
  // The upstream reported a failure, and the client was told.
  bool failed() const { return writer_->failed(); }

 private:
  void write(std::string& out);

  http::SseScanner scanner_;
  std::unique_ptr<StreamReader> reader_;
  std::unique_ptr<StreamWriter> writer_;
  Events events_;
};

}  // namespace hw::translate
