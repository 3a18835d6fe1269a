// The codecs allocate nothing on the paths that every exchange takes. ThreadSanitizer has operators
// of its own that cannot be replaced: there this file is empty.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "http/chunked.h"
#include "http/head.h"
#include "http/sse.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HW_NO_COUNTING_ALLOCATOR
#endif
#endif
#ifndef HW_NO_COUNTING_ALLOCATOR

namespace {
thread_local size_t allocations = 0;
}  // namespace

// Counts for this program; everything else is as the library has it.
void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace hw::http {
namespace {

TEST_CASE("a head, a chunk and an event in one read cost no allocation") {
  const std::string request = "POST /v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n";
  const std::string response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = "1c\r\nevent: a\ndata: {\"a\":\"bcd\"}\n\n\r\n0\r\n\r\n";
  const HeadLimits limits;
  const size_t before = allocations;
  RequestHead head;
  const bool request_fine = parse_request_head(request, limits, head).has_value();
  ResponseHead answer;
  const bool response_fine = parse_response_head(response, limits, "POST", answer).has_value();
  ChunkDecoder decoder(ErrorCode::kUpstreamProtocol);
  SseScanner scanner;
  SseEvent event;
  int events = 0;
  for (std::string_view rest = body; !rest.empty();) {
    const Result<ChunkStep> step = decoder.step(rest);
    if (!step) break;
    for (std::string_view payload = step->payload; !payload.empty();) {
      if (scanner.next(payload, event).value_or(false)) ++events;
    }
    rest.remove_prefix(step->consumed);
  }
  const size_t after = allocations;
  CHECK(after == before);
  CHECK(request_fine);
  CHECK(response_fine);
  CHECK(decoder.done());
  CHECK(events == 1);
}

TEST_CASE("between large events the scanner gives its memory back") {
  SseScanner scanner;
  SseEvent event;
  const std::string large = "data: " + std::string(100'000, 'x');
  std::string_view rest = large;
  REQUIRE_FALSE(scanner.next(rest, event).value());
  rest = "\n\n";
  REQUIRE(scanner.next(rest, event).value());
  REQUIRE_FALSE(scanner.next(rest, event).value());
  // A small event in two reads: 100 KB kept would take it without an allocation.
  const std::string small = "data: " + std::string(50, 'x');
  rest = small;
  const size_t before = allocations;
  const bool found = scanner.next(rest, event).value();
  const size_t after = allocations;
  CHECK_FALSE(found);
  CHECK(after > before);
}

}  // namespace
}  // namespace hw::http

#endif  // HW_NO_COUNTING_ALLOCATOR
