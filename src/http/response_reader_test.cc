#include "http/response_reader.h"

#include <doctest/doctest.h>

#include <string>

namespace hw::http {
namespace {

struct Seen {
  int status = 0;
  std::string body;
  bool ended = false, failed = false, reusable = false;
  std::string left;  // bytes behind the answer
  friend bool operator==(const Seen&, const Seen&) = default;
};

// Reads `pieces` one after the other, then the end of the connection where `closed`.
Seen read(const std::vector<std::string_view>& pieces, bool closed,
          std::string_view method = "POST") {
  static const HeadLimits limits;
  ResponseReader reader(limits, method);
  ResponseHead head;
  Seen seen;
  for (std::string_view piece : pieces) {
    std::string_view rest = piece;
    while (!rest.empty() || reader.body_exhausted()) {
      const Result<ResponseReader::Step> step = reader.next(rest, head);
      if (!step) {
        seen.failed = true;
        return seen;
      }
      if (step->kind == ResponseReader::Kind::kHead) seen.status = head.status;
      if (step->kind == ResponseReader::Kind::kBody) seen.body += step->body;
      if (step->kind == ResponseReader::Kind::kEnd) {
        seen.left += rest;
        break;
      }
    }
  }
  if (closed) reader.end_of_input();
  seen.ended = reader.done();
  seen.reusable = reader.reusable();
  return seen;
}

TEST_CASE("an answer reads the same however it is split") {
  struct Case {
    std::string bytes;
    bool closed;
    Seen expected;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
       false,
       {200, "hello", true, false, true, ""}},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 "
       "OK\r\nContent-Length: 2\r\n\r\nhi",
       false,
       {200, "hi", true, false, true, ""}},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
       "chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n",
       false,
       {200, "abcde", true, false, true, ""}},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
       false,
       {200, "x", true, false, false, ""}},
      {"HTTP/1.0 200 OK\r\n\r\nuntil the end",
       true,
       {200, "until the end", true, false, false, ""}},
      {"HTTP/1.1 204 No Content\r\n\r\n", false, {204, "", true, false, true, ""}},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, {200, "", true, false, true, ""}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.bytes);
    const std::string_view all = each.bytes;
    CHECK(read({all}, each.closed) == each.expected);
    for (size_t i = 1; i < all.size(); ++i) {
      CAPTURE(i);
      CHECK(read({all.substr(0, i), all.substr(i)}, each.closed) == each.expected);
    }
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < all.size(); ++i) bytes.push_back(all.substr(i, 1));
    CHECK(read(bytes, each.closed) == each.expected);
  }
}

TEST_CASE("an answer cut short is not complete, whatever ended it") {
  for (std::string_view bytes :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "HTTP/1.1 200"}) {
    CAPTURE(bytes);
    const Seen seen = read({bytes}, true);
    CHECK(!seen.ended);
    CHECK(!seen.reusable);
  }
}

TEST_CASE("bytes behind an answer are left alone, and broken framing fails") {
  CHECK(read({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200"}, false).left ==
        "HTTP/1.1 200");
  CHECK(read({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}, false).failed);
  CHECK(read({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"}, false).failed);
  CHECK(read({"nonsense\r\n\r\n"}, false).failed);
}

TEST_CASE("an answer to HEAD has no body though it names a length") {
  const Seen seen = read({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"}, false, "HEAD");
  CHECK(seen.ended);
  CHECK(seen.reusable);
}

}  // namespace
}  // namespace hw::http
