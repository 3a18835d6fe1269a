#include "neutral/text.h"

#include <doctest/doctest.h>

namespace hw::translate {
namespace {

std::string as_json(const Text& text) {
  std::string out;
  text.append_json(out);
  return out;
}

TEST_CASE("text stays escaped as it came, plain text is escaped") {
  CHECK(as_json(Text::escaped(R"(a\u00e9\n\/)")) == R"("a\u00e9\n\/")");
  CHECK(as_json(Text::plain("a\"\n")) == R"("a\"\n")");
  CHECK(as_json(Text()) == R"("")");
  std::string out = "<";
  Text::plain("a\\b").append_escaped(out);
  Text::escaped("\\t").append_escaped(out);
  CHECK(out == R"(<a\\b\t)");
}

TEST_CASE("the text itself is the same, escaped or not, and half a character is none") {
  CHECK(Text::escaped(R"(\u0061\ud83e\udd80)").str() == "a🦀");
  CHECK(Text::plain("\\u0061").str() == "\\u0061");
  CHECK(Text::escaped("\\ud83e").str() == "\uFFFD");
  CHECK(Text::escaped("a\\u0062").is("ab"));
  CHECK(!Text::escaped("a\\u0062").is("a"));
  CHECK(Text::plain("ab").is("ab"));
}

TEST_CASE("absent is not empty, and neither has text") {
  CHECK(!Text().present());
  CHECK(Text().empty());
  CHECK(!Text().is(""));
  CHECK(Text::plain("").present());
  CHECK(Text::plain("").empty());
  CHECK(Text::plain("").is(""));
}

TEST_CASE("a value that is no string, or has a wrong escape, is no text") {
  json::Document document;
  REQUIRE(document.open(R"({"a":"x","b":1,"c":null,"d":"\q","e":{"f":""}})"));
  json::Object root = document.root();
  CHECK(Text::of(root.find("a")).is("x"));
  CHECK(!Text::of(root.find("b")).present());
  CHECK(!Text::of(root.find("c")).present());
  CHECK(!Text::of(root.find("d")).present());
  CHECK(!Text::of(root.find("none")).present());
  CHECK(Text::of(root.find("e").object().find("f")).present());
}

TEST_CASE("a slice is of the whole's form") {
  CHECK(as_json(Text::escaped(R"(ab\ncd)").slice(2, 2)) == R"("\n")");
  CHECK(Text::escaped(R"(ab\ncd)").slice(4).is("cd"));
  CHECK(Text::plain("ab").slice(1).bytes() == "b");
}

}  // namespace
}  // namespace hw::translate
