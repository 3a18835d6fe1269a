#include "translate/stream_translator.h"

namespace hw::translate {

StreamTranslator::StreamTranslator(Dialect upstream, Dialect client, const Reply& reply,
                                   Fidelity& fidelity)
    : reader_(make_stream_reader(upstream)), writer_(make_stream_writer(client, reply, fidelity)) {}

Status StreamTranslator::feed(std::string_view bytes, std::string& out) {
  http::SseEvent event;
  for (;;) {
    const Result<bool> found = scanner_.next(bytes, event);
    if (!found) return hw::fail(found.error());
    if (!*found) return {};
    events_.clear();
    reader_->read(event, events_);
    write(out);
  }
}

void StreamTranslator::end(std::string& out) {
  if (writer_->failed()) return;
  events_.clear();
  reader_->end(events_);
  write(out);
  if (!writer_->failed()) writer_->end(out);
}

void StreamTranslator::fail(const Error& error, std::string& out) {
  if (!writer_->failed()) writer_->fail(error, out);
}

// Nothing follows a failure.
void StreamTranslator::write(std::string& out) {
  for (const Event& event : events_) {
    if (writer_->failed()) return;
    writer_->write(event, out);
  }
}

}  // namespace hw::translate
