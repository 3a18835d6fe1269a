#include "wire/upstream_error.h"

#include <doctest/doctest.h>

namespace hw::wire {

TEST_CASE("an excerpt is at most 200 printable characters") {
  CHECK(excerpt("") == "(empty)");
  CHECK(excerpt(" \r\n\t ") == "(empty)");
  CHECK(excerpt("  a \n\n b\x01\x1b[0m\xff ") == "a b[0m");
  CHECK(excerpt("h\xc3\xa9 \xf0\x9f\xa6\x80") == "h\xc3\xa9 \xf0\x9f\xa6\x80");
  CHECK(excerpt("a\xc3") == "a");
  CHECK(excerpt("\xe0\x80\x80\xed\xa0\x80\xc2\x85x") == "x");  // overlong, surrogate, control
  const std::string cut = excerpt(std::string(5000, 'x'));
  CHECK(cut.size() == 200);
  CHECK(cut.substr(195) == "xx...");
  std::string wide;
  for (int i = 0; i < 300; ++i) wide += "\xe6\x83\xb3";
  CHECK(excerpt(wide) == wide.substr(0, 197 * 3) + "...");
}

TEST_CASE("what is kept of a text ends at a character's edge") {
  std::string out;
  keep(out, "a\xf0\x9f\xa6\x80", 3);
  CHECK(out == "a");
  keep(out, "abc", 3);
  CHECK(out == "abc");
  keep(out, "abc", 0);
  CHECK(out.empty());
}

TEST_CASE("an error's words are bounded") {
  const std::string long_word(5000, 'w');
  const UpstreamErrorBody read =
      read_error_body(Family::kOpenai, "{\"error\":{\"type\":\"" + long_word + "\",\"code\":\"" +
                                           long_word + "\",\"message\":\"" + long_word + "\"}}");
  CHECK(read.shape == ErrorShape::kFamily);
  CHECK(read.words.type.size() == kWordBytesMax);
  CHECK(read.words.code.size() == kWordBytesMax);
  CHECK(read.words.message.size() == kErrorMessageBytesMax);
}

}  // namespace hw::wire
