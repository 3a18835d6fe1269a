#include "json/check.h"

#include <doctest/doctest.h>

#include <string>

namespace hw::json {
namespace {

TEST_CASE("complete objects are recognised") {
  for (const std::string_view text :
       {"{}", " {\r\n\t} ", R"({"a":1})", R"({"a":[],"b":{},"c":[[],{}],"d":[1,2]})",
        R"({"a":-0.5e+10,"b":0,"c":1E2,"d":true,"e":false,"f":null,"g":"\u00e9\\\""})",
        R"({"":"","a":"\ud800"})", "{\"a\":\"\x7f é 🦀\"}"}) {
    CHECK_MESSAGE(is_json_object(text), text);
  }
}

TEST_CASE("what is not exactly one object is refused") {
  for (const std::string_view text : {"",
                                      " ",
                                      "[]",
                                      "1",
                                      "\"a\"",
                                      "null",
                                      "{",
                                      "}",
                                      "{}}",
                                      "{}{}",
                                      "{},",
                                      "{} x",
                                      "{a:1}",
                                      "{1:1}",
                                      R"({"a"})",
                                      R"({"a":})",
                                      R"({"a":1,})",
                                      R"({,"a":1})",
                                      R"({"a":1 "b":2})",
                                      R"({"a":1;"b":2})",
                                      R"({"a":[1,]})",
                                      R"({"a":[,1]})",
                                      R"({"a":[1 2]})",
                                      R"({"a":[1}})",
                                      R"({"a":{"b":1]})",
                                      R"({"a":01})",
                                      R"({"a":+1})",
                                      R"({"a":1.})",
                                      R"({"a":.5})",
                                      R"({"a":1e})",
                                      R"({"a":0x1})",
                                      R"({"a":-})",
                                      R"({"a":NaN})",
                                      R"({"a":tru})",
                                      R"({"a":truee})",
                                      R"({"a":"\x"})",
                                      R"({"a":"\u12"})",
                                      R"({"a":"\u123g"})",
                                      R"({"a":"b})",
                                      R"({"a":'b'})",
                                      R"({"a":"b"c})",
                                      R"({"a":"b""c"})",
                                      R"({"a":1"b"})",
                                      R"({"a"::1})",
                                      R"({"a":1}/*c*/)",
                                      "{\"a\":\"\xff\"}",
                                      "{\"a\":\"\xed\xa0\x80\"}",
                                      "{\"a\":\"\x01\"}"}) {
    CHECK_MESSAGE(!is_json_object(text), text);
  }
  CHECK_FALSE(is_json_object(std::string_view("{\"a\":\"\0\"}", 9)));
  CHECK_FALSE(is_json_object(std::string_view("{}\0", 3)));
  CHECK_FALSE(is_json_object("\xef\xbb\xbf{}"));
}

TEST_CASE("every cut of an object is refused") {
  const std::string text =
      R"({"id":"x","choices":[{"delta":{"content":"é\n\u00e9"},"n":-1.5e3}],"ok":true,"z":null})";
  REQUIRE(is_json_object(text));
  for (size_t size = 0; size < text.size(); ++size) {
    CHECK_MESSAGE(!is_json_object(text.substr(0, size)), size);
  }
}

TEST_CASE("nesting is bounded at kDepthMax") {
  const auto nested = [](int depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  CHECK(is_json_object(nested(kDepthMax)));
  CHECK_FALSE(is_json_object(nested(kDepthMax + 1)));
  CHECK_FALSE(is_json_object(nested(1000000)));
}

}  // namespace
}  // namespace hw::json
