// The event scanner equals the standard's algorithm, whatever the stream is cut into.
#include "http/sse.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/assert.h"
#include "http/sse_reference.h"

namespace hw::http {
namespace {

// Feeds `bytes` in reads of `step` bytes, each in memory of its own.
std::vector<ReferenceEvent> scan(std::string_view bytes, size_t step) {
  SseScanner scanner;
  std::vector<ReferenceEvent> events;
  size_t read = 0;
  while (read < bytes.size()) {
    const std::vector<char> piece(bytes.begin() + read,
                                  bytes.begin() + std::min(read + step, bytes.size()));
    read += piece.size();
    std::string_view rest(piece.data(), piece.size());
    SseEvent event;
    for (;;) {
      const Result<bool> found = scanner.next(rest, event);
      HW_ASSERT(found.has_value());
      if (!*found) break;
      events.push_back({std::string(event.type), std::string(event.data), read - rest.size()});
    }
    HW_ASSERT(rest.empty());
    HW_ASSERT(scanner.at_boundary() ? scanner.pending().empty() : true);
  }
  return events;
}

}  // namespace
}  // namespace hw::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  using namespace hw::http;
  const size_t step = 1 + data[0] % 32;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::vector<ReferenceEvent> expected = reference_events(bytes);
  HW_ASSERT(scan(bytes, size) == expected);
  std::vector<ReferenceEvent> pieces = scan(bytes, step);
  HW_ASSERT(pieces.size() == expected.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    HW_ASSERT(pieces[i].type == expected[i].type && pieces[i].data == expected[i].data);
    // A read may end inside the CRLF that ends the event.
    HW_ASSERT(pieces[i].end == expected[i].end || pieces[i].end + 1 == expected[i].end);
  }
  return 0;
}
