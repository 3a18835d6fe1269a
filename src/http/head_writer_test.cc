#include "http/head_writer.h"

#include <doctest/doctest.h>

#include "http/head.h"

namespace hw::http {
namespace {

TEST_CASE("pieces come out in their order, whatever their size") {
  const std::string large(3000, 'x');
  for (size_t before = 0; before < 1100; before += 7) {
    std::string out = ">";
    {
      HeadWriter writer(out);
      writer.add(std::string(before, '.')).add(12345678901234567890u).line("a", "b").add(large);
      writer.add("end");
    }
    CHECK(out == ">" + std::string(before, '.') + "12345678901234567890a: b\r\n" + large + "end");
  }
}

TEST_CASE("lines pass byte for byte but for those left out") {
  const std::string head =
      "GET / HTTP/1.1\r\nHost: h\r\nA:1\r\nB:  two \r\nGone: x\r\nC: 3\r\nGone: y\r\n\r\n";
  RequestHead parsed;
  REQUIRE(parse_request_head(head, HeadLimits{}, parsed));
  std::string out;
  {
    HeadWriter writer(out);
    writer.lines(parsed.fields,
                 [](const Field& field) { return field.name != "Gone" && field.name != "Host"; });
  }
  CHECK(out == "A:1\r\nB:  two \r\nC: 3\r\n");
}

TEST_CASE("fields that lie in no head are written as lines") {
  Fields fields;
  fields.add("a", "1");
  fields.add("b", "2");
  std::string out;
  {
    HeadWriter writer(out);
    writer.lines(fields, [](const Field&) { return true; });
  }
  CHECK(out == "a: 1\r\nb: 2\r\n");
}

}  // namespace
}  // namespace hw::http
