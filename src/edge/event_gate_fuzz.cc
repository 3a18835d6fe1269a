// Any stream through a gate, in any pieces: one that hides nothing gives every byte back; one that
// hides usage chunks leaves a stream with the same events but those.
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "edge/event_gate.h"

namespace hw::edge {
namespace {

// What a client gets; `hidden` is how many events it is not shown.
std::string relay(Hide hide, std::string_view body, size_t piece, size_t& hidden, size_t& events) {
  wire::StreamObserver observer(Dialect::kOpenaiChat);
  EventGate gate(hide);
  std::string out, scratch;
  for (size_t at = 0; at < body.size(); at += piece) {
    const std::string_view bytes = body.substr(at, piece);
    const auto facts = observer.feed(bytes);
    if (!facts) break;
    out += gate.feed(bytes, *facts, scratch);
    HW_ASSERT(gate.held().size() <= EventGate::kHeldBytesMax);
  }
  out += gate.held();
  hidden = gate.hidden();
  events = observer.events();
  return out;
}

size_t count_events(std::string_view body) {
  wire::StreamObserver observer(Dialect::kOpenaiChat);
  HW_ASSERT(observer.feed(body).has_value());
  return observer.events();
}

}  // namespace
}  // namespace hw::edge

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw::edge;
  if (size < 1 || size > 32 * 1024) return 0;  // below every limit: nothing passes unseen
  const size_t piece = data[0] % 64 + 1;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  size_t hidden = 0, events = 0;
  HW_ASSERT(relay(Hide::kNothing, body, piece, hidden, events) == body);
  HW_ASSERT(hidden == 0);
  const std::string shown = relay(Hide::kUsageChunks, body, piece, hidden, events);
  HW_ASSERT(shown.size() <= body.size());
  HW_ASSERT(count_events(shown) == events - hidden);
  if (hidden == 0) HW_ASSERT(shown == body);
  return 0;
}
