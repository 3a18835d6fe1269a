#include "json/literal.h"

#include <doctest/doctest.h>

#include <string>

namespace hw::json {
namespace {

std::string unescaped(std::string_view content) {
  std::string out(content.size(), '\0');
  const size_t size = unescape(content, out.data());
  return size == kBadEscape ? "bad" : out.substr(0, size);
}

TEST_CASE("numbers follow the grammar of RFC 8259") {
  for (const std::string_view text : {"0", "-0", "1", "10", "1.5", "-1.5e-10", "0e0", "1E+2"}) {
    CHECK_MESSAGE(is_number_literal(text), text);
  }
  for (const std::string_view text : {"", "-", "+1", "01", "00", "1.", ".1", "1e", "1e+", "1.e1",
                                      "1 ", " 1", "--1", "0x1", "1_0", "Infinity"}) {
    CHECK_MESSAGE(!is_number_literal(text), text);
  }
}

TEST_CASE("escapes are undone") {
  CHECK(unescaped("plain") == "plain");
  CHECK(unescaped(R"(\n)") == "\n");
  CHECK(unescaped(R"(a\u0041\u00E9b)") == "aAéb");
  CHECK(unescaped(R"(\uD83E\uDD80!)") == "🦀!");
  CHECK(unescaped(R"(\u0000)") == std::string(1, '\0'));
}

TEST_CASE("surrogates that do not pair are replaced one by one") {
  const std::string kReplacement = "\xef\xbf\xbd";
  CHECK(unescaped(R"(\ud83e)") == kReplacement);
  CHECK(unescaped(R"(\udd80\ud83e)") == kReplacement + kReplacement);
  CHECK(unescaped(R"(\ud83e\ud83e\udd80)") == kReplacement + "🦀");
  CHECK(unescaped(R"(\ud83e\n)") == kReplacement + "\n");
  CHECK(unescaped(R"(\ud83e\u0041)") == kReplacement + "A");
}

TEST_CASE("escapes that are none are refused") {
  for (const std::string_view text :
       {R"(\)", R"(\x)", R"(\u)", R"(\u12)", R"(\u12g4)", R"(\U0041)", R"(\ud83e\uzzzz)"}) {
    CHECK_MESSAGE(unescaped(text) == "bad", text);
    CHECK_FALSE(is_string_literal("\"" + std::string(text) + "\""));
  }
}

TEST_CASE("a plain literal is a number or one of three words") {
  CHECK(is_plain_literal("true"));
  CHECK(is_plain_literal("null"));
  CHECK(is_plain_literal("-1"));
  CHECK_FALSE(is_plain_literal("True"));
  CHECK_FALSE(is_plain_literal("nul"));
}

}  // namespace
}  // namespace hw::json
