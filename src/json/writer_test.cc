#include "json/writer.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "json/check.h"
#include "json/scan.h"

namespace hw::json {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

TEST_CASE("commas, keys and nesting are right") {
  std::string out = "> ";
  Writer writer(out);
  writer.begin_object();
  writer.field("id", "x");
  writer.key("list");
  writer.begin_array();
  writer.value(1);
  writer.begin_object();
  writer.end_object();
  writer.begin_array();
  writer.end_array();
  writer.value(true);
  writer.end_array();
  writer.field_null("none");
  writer.field_raw("raw", "[1, 2]");
  writer.field("f", false);
  writer.end_object();
  CHECK(out == R"(> {"id":"x","list":[1,{},[],true],"none":null,"raw":[1, 2],"f":false})");
  CHECK(writer.depth() == 0);
}

TEST_CASE("integers keep all their digits") {
  std::string out;
  Writer writer(out);
  writer.begin_array();
  writer.value(std::numeric_limits<int64_t>::min());
  writer.value(std::numeric_limits<uint64_t>::max());
  writer.value(uint8_t{7});
  writer.value(size_t{0});
  writer.end_array();
  CHECK(out == "[-9223372036854775808,18446744073709551615,7,0]");
}

TEST_CASE("doubles are short and read back the same") {
  const auto text = [](double number) {
    std::string out;
    append_number(out, number);
    return out;
  };
  CHECK(text(0.1) == "0.1");
  CHECK(text(100) == "100");
  CHECK(text(-2.5) == "-2.5");
  CHECK(text(std::nan("")) == "null");
  CHECK(text(INFINITY) == "null");
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = random();
    const double number = std::bit_cast<double>(bits);
    if (!std::isfinite(number)) continue;
    CHECK(std::strtod(text(number).c_str(), nullptr) == number);
    CHECK(is_json_object("{\"a\":" + text(number) + "}"));
  }
}

TEST_CASE("strings are escaped and repaired") {
  CHECK(quoted("a\"b\\c/d") == R"("a\"b\\c/d")");
  CHECK(quoted("\n\r\t\b\f\x01\x1f") == R"("\n\r\t\b\f\u0001\u001f")");
  CHECK(quoted("é€🦀") == "\"é€🦀\"");
  CHECK(quoted(std::string_view("\0", 1)) == R"("\u0000")");
  CHECK(quoted("a\xff"
               "b") ==
        "\"a\xef\xbf\xbd"
        "b\"");
  CHECK(quoted("\xe2\x82") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  CHECK(quoted("\xed\xa0\x80").find("\xed") == std::string::npos);
}

TEST_CASE("any bytes become a valid string, and valid ones come back unchanged") {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (size_t i = random() % 24; i > 0; --i) bytes += static_cast<char>(random());
    const std::string text = "{\"a\":" + quoted(bytes) + "}";
    REQUIRE(is_json_object(text));
    Document document;
    REQUIRE(document.open(text));
    const std::string back(*document.root().find("a").text());
    CHECK(quoted(back) == quoted(bytes));
    if (quoted(bytes).find("\xef\xbf\xbd") == std::string::npos) CHECK(back == bytes);
  }
}

}  // namespace
}  // namespace hw::json
