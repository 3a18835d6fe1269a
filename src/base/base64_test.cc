#include "base/base64.h"

#include <doctest/doctest.h>

namespace hw {
namespace {

std::string encoded(std::string_view bytes) {
  std::string out;
  append_base64url(out, bytes);
  return out;
}

TEST_CASE("base64url is what RFC 4648 has for its examples, without padding") {
  CHECK(encoded("") == "");
  CHECK(encoded("f") == "Zg");
  CHECK(encoded("fo") == "Zm8");
  CHECK(encoded("foo") == "Zm9v");
  CHECK(encoded("foobar") == "Zm9vYmFy");
  CHECK(encoded("\xfb\xff\xfe") == "-__-");
}

TEST_CASE("any bytes of any length come back, and the size is known beforehand") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const std::string text = encoded(bytes);
    CHECK(text.size() == base64url_size(bytes.size()));
    std::string back = "kept ";
    REQUIRE(decode_base64url(text, back));
    CHECK(back == "kept " + bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST_CASE("what is no encoding is refused, and nothing is appended") {
  for (const std::string_view text :
       {"A", "AAAAA", "Zg=", "Zm+v", "Zm/v", "Z g", "Zh", "Zm9=", "\xc3\xa9zz"}) {
    std::string out = "kept";
    CHECK_MESSAGE(!decode_base64url(text, out), text);
    CHECK(out == "kept");
  }
}

}  // namespace
}  // namespace hw
