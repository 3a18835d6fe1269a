#include "http/writer.h"

#include <doctest/doctest.h>

#include <string>

#include "http/head.h"

namespace hw::http {
namespace {

TEST_CASE("a request head that was written is read back") {
  std::string out;
  append_request_line(out, "POST", "/v1/messages?beta=true");
  append_field(out, "host", "h:1");
  append_field(out, "x-text", "caf\xe9");
  append_content_length(out, 18446744073709551615u);
  append_head_end(out);
  CHECK(out ==
        "POST /v1/messages?beta=true HTTP/1.1\r\nhost: h:1\r\nx-text: caf\xe9\r\n"
        "content-length: 18446744073709551615\r\n\r\n");
  RequestHead head;
  CHECK(parse_request_head(out, {}, head) == out.size());
  CHECK(head.content_length == UINT64_MAX);
}

TEST_CASE("a response head that was written is read back") {
  std::string out;
  append_status_line(out, 529);
  append_field(out, "retry-after", 7);
  append_content_length(out, 0);
  append_head_end(out);
  ResponseHead head;
  CHECK(parse_response_head(out, {}, "GET", head) == out.size());
  CHECK(head.status == 529);
  CHECK(head.reason == "Overloaded");
  CHECK(head.fields.value("retry-after") == "7");
}

TEST_CASE("a field that would break the head is refused and leaves no trace") {
  std::string out = "x";
  for (const std::string_view value : {"a\r\nb: c", "a\nb", "a\rb", " a", "a\x7f"}) {
    CHECK_FALSE(append_checked_field(out, "name", value));
  }
  CHECK_FALSE(append_checked_field(out, "name", std::string_view("\0", 1)));
  CHECK_FALSE(append_checked_field(out, "na me", "v"));
  CHECK_FALSE(append_checked_field(out, "", "v"));
  CHECK(out == "x");
  CHECK(append_checked_field(out, "name", ""));
  CHECK(out == "xname: \r\n");
}

TEST_CASE("every status has a reason phrase without surprises") {
  for (int status = 100; status < 1000; ++status) {
    CHECK_FALSE(reason_phrase(status).empty());
    CHECK(is_field_value(reason_phrase(status)));
  }
  CHECK(reason_phrase(200) == "OK");
  CHECK(reason_phrase(299) == "Unknown");
}

}  // namespace
}  // namespace hw::http
