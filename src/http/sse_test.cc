#include "http/sse.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "http/sse_reference.h"

namespace hw::http {
namespace {

using Event = ReferenceEvent;

// Feeds reads that end at the given offsets, copied so that a view held too long is seen by ASan.
class Reader {
 public:
  void read(std::string_view bytes) {
    const std::string copy(bytes);
    std::string_view rest = copy;
    SseEvent event;
    for (;;) {
      const Result<bool> found = scanner_.next(rest, event);
      REQUIRE(found);
      if (!*found) break;
      events_.push_back(
          {std::string(event.type), std::string(event.data), read_ + copy.size() - rest.size()});
    }
    REQUIRE(rest.empty());
    read_ += copy.size();
  }
  std::vector<Event> events() const { return events_; }
  const SseScanner& scanner() const { return scanner_; }

 private:
  SseScanner scanner_;
  std::vector<Event> events_;
  size_t read_ = 0;
};

// Events without their ends, which differ by the LF of a CRLF that a cut parts.
std::vector<Event> without_ends(std::vector<Event> events) {
  for (Event& event : events) event.end = 0;
  return events;
}

void check_all_splits(std::string_view bytes) {
  const std::vector<Event> expected = reference_events(bytes);
  Reader whole;
  whole.read(bytes);
  CHECK(whole.events() == expected);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    Reader reader;
    reader.read(bytes.substr(0, cut));
    reader.read(bytes.substr(cut));
    const bool parts_crlf = cut > 0 && cut < bytes.size() && bytes.substr(cut - 1, 2) == "\r\n";
    REQUIRE_MESSAGE((parts_crlf ? without_ends(reader.events()) == without_ends(expected)
                                : reader.events() == expected),
                    bytes << " cut at " << cut);
  }
  Reader bytewise;
  for (const char c : bytes) bytewise.read({&c, 1});
  CHECK(without_ends(bytewise.events()) == without_ends(expected));
}

TEST_CASE("streams of real shapes are cut right at every split") {
  for (const std::string_view bytes :
       {"data: {\"a\":1}\n\ndata: [DONE]\n\n", "data:x\r\n\r\ndata:y\r\n\r\n",
        "data:x\r\rdata:y\r\r",
        "event: ping\ndata: {}\n\n: comment\n\nevent: a\nid: 1\nretry: 5\ndata: b\n\n",
        "data: a\ndata:\ndata:  c\nevent: late\n\n", "data\n\ndata\ndata\n\ndata:\n\n",
        "\xef\xbb\xbf"
        "data: bom\n\ndata: \xef\xbb\xbf\n\n",
        "\xef\xbb"
        "data: half\n\ndata: x\n\n",
        "\n\n\r\n\r\rdata: x\n\r\n", "data: mixed\r\ndata: ends\rdata: here\n\r\n\n",
        ": ping\n: ping\n\n:\n\nevent: no data\n\ndata: \xe4\xb8\xad\xf0\x9f\xa6\x80\n\n",
        "datax: no\ndat: no\n data: no\ndata : no\nData: no\n\n",
        "data: \xe2\x80\xa8 no line end\n\n",
        "event: a\nevent: b\ndata: last type wins\n\ndata: unfinished\n", "data: x\n\n\n\n", ""}) {
    check_all_splits(bytes);
  }
}

TEST_CASE("random streams equal the standard's algorithm at every split") {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"data",  ":",     " ",   "\n",   "\r", "\r\n",
                                           "event", "x",     ": c", "\n\n", "é",  "\xef\xbb\xbf",
                                           "data:", "data: "};
  for (int round = 0; round < 1500; ++round) {
    std::string bytes;
    for (size_t i = random() % 20; i > 0; --i) bytes += pieces[random() % pieces.size()];
    check_all_splits(bytes);
  }
}

TEST_CASE("an event in one read with one data line is a view into the read") {
  const std::string read = "event: delta\ndata: {\"a\":1}\n\ndata: b\n\n";
  SseScanner scanner;
  std::string_view rest = read;
  SseEvent event;
  REQUIRE(scanner.next(rest, event).value());
  CHECK(event.data.data() == read.data() + 19);
  CHECK(event.type.data() == read.data() + 7);
  CHECK(rest.size() == 9);
  REQUIRE(scanner.next(rest, event).value());
  CHECK(event.type.empty());
  CHECK(event.data == "b");
}

TEST_CASE("a boundary is where nothing has begun") {
  const auto boundary = [](std::string_view bytes) {
    Reader reader;
    reader.read(bytes);
    CHECK(reader.scanner().at_boundary() == reader.scanner().pending().empty());
    return reader.scanner().at_boundary();
  };
  CHECK(boundary(""));
  CHECK(boundary("data: x\n\n"));
  CHECK(boundary("data: x\r\n\r"));  // a LF may follow, which dispatches nothing
  CHECK(boundary("data: x\n\n: comment\n"));
  CHECK(boundary("\n"));
  CHECK_FALSE(boundary("data: x\n"));
  CHECK_FALSE(boundary("d"));
  CHECK_FALSE(boundary("data: x\n\n: comm"));
  CHECK_FALSE(boundary("event: x\n: comment\n"));
  SseScanner scanner;
  std::string_view rest = "\xef\xbb";
  SseEvent event;
  CHECK_FALSE(scanner.next(rest, event).value());
  CHECK_FALSE(scanner.at_boundary());
}

TEST_CASE("what a broken stream said last can be looked at") {
  Reader reader;
  reader.read("data: a\n\ndata: [DO");
  reader.read("NE]");
  CHECK(reader.scanner().pending() == "data: [DONE]");
}

TEST_CASE("events are bounded, with the same verdict at every split") {
  SseLimits limits;
  limits.event_bytes_max = 20;
  const std::string fits = "data: 123456789012\n\n";
  const std::string large = "data: 1234567890123\n\n";
  const auto verdict = [&](const std::string& bytes, size_t cut) {
    SseScanner scanner(limits);
    SseEvent event;
    std::string_view rest = std::string_view(bytes).substr(0, cut);
    Result<bool> found = scanner.next(rest, event);
    if (!found) return false;
    rest = std::string_view(bytes).substr(cut);
    found = scanner.next(rest, event);
    if (found) return true;
    CHECK(found.error().code == ErrorCode::kUpstreamProtocol);
    CHECK_FALSE(scanner.next(rest, event));
    return false;
  };
  for (size_t cut = 0; cut <= fits.size(); ++cut) CHECK(verdict(fits, cut));
  for (size_t cut = 0; cut <= large.size(); ++cut) CHECK_FALSE(verdict(large, cut));
}

TEST_CASE("comments without end take no memory and break no limit") {
  SseLimits limits;
  limits.event_bytes_max = 64;
  SseScanner scanner(limits);
  SseEvent event;
  for (int i = 0; i < 1000; ++i) {
    std::string_view rest = ": keep-alive\n";
    REQUIRE_FALSE(scanner.next(rest, event).value());
    REQUIRE(scanner.at_boundary());
  }
}

TEST_CASE("many small reads of a large event cost linear time") {
  SseScanner scanner;
  SseEvent event;
  std::string_view rest = "data: ";
  REQUIRE_FALSE(scanner.next(rest, event).value());
  // Rescanning from the start at each read would take minutes.
  for (int i = 0; i < 200'000; ++i) {
    rest = "x";
    REQUIRE_FALSE(scanner.next(rest, event).value());
  }
  rest = "\n\n";
  REQUIRE(scanner.next(rest, event).value());
  CHECK(event.data.size() == 200'000);
}

}  // namespace
}  // namespace hw::http
