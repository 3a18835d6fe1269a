// Any bytes, in any pieces, to any dialect's observer: the facts do not depend on the pieces, and
// what is kept stays within its bounds.
#include <cstdlib>
#include <string>
#include <vector>

#include "base/assert.h"
#include "wire/error_body.h"
#include "wire/stream_observer.h"

namespace hw::wire {
namespace {

struct Seen {
  std::vector<EventFacts> events;
  bool failed = false;
};

Seen observe(StreamObserver& observer, std::string_view body, size_t piece) {
  Seen seen;
  for (size_t at = 0; at < body.size() && !seen.failed; at += piece) {
    const auto events = observer.feed(body.substr(at, piece));
    seen.failed = !events.has_value();
    if (seen.failed) break;
    for (EventFacts event : *events) {
      HW_ASSERT(event.end <= piece);
      HW_ASSERT(event.token == (event.text_bytes > 0));
      event.end = 0;  // a split CRLF moves it
      seen.events.push_back(event);
    }
  }
  return seen;
}

// An event alone, to an observer that knows no shape yet, means the same.
void check_alone(Dialect dialect, std::string_view body) {
  StreamObserver observer(dialect);
  const auto events = observer.feed(body);
  if (!events) return;
  const std::vector<EventFacts> facts(events->begin(), events->end());
  size_t from = 0;
  for (EventFacts fact : facts) {
    StreamObserver fresh(dialect);
    // Behind a blank line, since a byte order mark counts at the start only.
    const std::string event = "\n" + std::string(body.substr(from, fact.end - from));
    const auto alone = fresh.feed(event);
    from = fact.end;
    if (from == facts.front().end) continue;
    HW_ASSERT(alone.has_value() && alone->size() == 1);
    fact.end = alone->front().end;
    HW_ASSERT(fact == alone->front());
  }
}

void check_kept(const StreamObserver& observer) {
  HW_ASSERT(observer.id().size() <= kIdBytesMax);
  HW_ASSERT(observer.finish_reason().size() <= kWordBytesMax);
  HW_ASSERT(observer.error_words().message.size() <= kErrorMessageBytesMax);
  HW_ASSERT(observer.response_object().size() <= 4096);
  std::string out;
  append_heartbeat(out, observer.dialect(), &observer);
  append_error_event(out, observer.dialect(), Error(ErrorCode::kUpstreamBroken, "x"), "req_1",
                     &observer);
  StreamObserver client(observer.dialect());
  HW_ASSERT(client.feed(out).has_value());
  HW_ASSERT(client.at_boundary());
}

}  // namespace
}  // namespace hw::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw::wire;
  if (size < 2) return 0;
  const auto dialect = static_cast<hw::Dialect>(data[0] % hw::kDialectCount);
  const size_t piece = data[1] % 64 + 1;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  StreamObserver whole(dialect), split(dialect);
  const Seen a = observe(whole, body, body.size() + 1);
  const Seen b = observe(split, body, piece);
  HW_ASSERT(a.failed == b.failed);
  if (a.failed) return 0;
  HW_ASSERT(a.events == b.events);
  HW_ASSERT(whole.finished() == split.finished());
  HW_ASSERT(whole.usage() == split.usage());
  HW_ASSERT(whole.engine() == split.engine());
  HW_ASSERT(whole.output_bytes() == split.output_bytes());
  HW_ASSERT(whole.error_words() == split.error_words());
  HW_ASSERT(whole.response_object() == split.response_object());
  check_kept(whole);
  check_alone(dialect, body);
  return 0;
}
