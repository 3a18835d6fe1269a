#include "neutral/custom_input.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hw::translate {
namespace {

std::string in_pieces(std::string_view arguments, size_t piece) {
  CustomInput input;
  std::string out;
  for (size_t at = 0; at < arguments.size(); at += piece)
    input.feed(arguments.substr(at, piece), out);
  input.end(out);
  return out;
}

struct Example {
  std::string arguments, text;
};

const std::vector<Example>& examples() {
  static const std::vector<Example> all = {
      {R"({"input":"*** Begin Patch\n+a \"b\" \\ \/\t"})", "*** Begin Patch\n+a \"b\" \\ /\t"},
      {R"( { "input" : "a" } )", "a"},
      {R"({"input":""})", ""},
      {R"({"why":{"input":"no","x":[1,"}"]},"n":-1,"input":"yes"})", "yes"},
      {R"({"input":"crab \ud83e\udd80 \u00e9 \u20ac"})", "crab 🦀 é €"},
      {R"({"input":"half \ud83e, half \udd80"})", "half \xEF\xBF\xBD, half \xEF\xBF\xBD"},
      {R"({"input":"end \ud83e"})", "end \xEF\xBF\xBD"},
      {R"({"input":"🦀"})", "🦀"},
      {R"({"input":"cut off)", "cut off"},
      {"*** Begin Patch\n*** End Patch", "*** Begin Patch\n*** End Patch"},
      {R"({"patch":"x"})", R"({"patch":"x"})"},
      {R"({"input":7})", R"({"input":7})"},
      {R"(["input"])", R"(["input"])"},
      {"{}", "{}"},
      {"", ""},
      {"  ", "  "},
  };
  return all;
}

TEST_CASE("the text of a custom tool comes out of its arguments, however they are cut") {
  for (const Example& example : examples()) {
    CAPTURE(example.arguments);
    for (size_t piece = 1; piece <= example.arguments.size() + 1; ++piece)
      CHECK(in_pieces(example.arguments, piece) == example.text);
  }
}

TEST_CASE("what was put into arguments comes out as it was") {
  for (const std::string text : {"", "a", "a\nb\"c\\d", "🦀\x01 \xC3\xA9", "{\"input\":\"x\"}"}) {
    std::string arguments, out;
    append_custom_arguments(arguments, Text::plain(text));
    append_custom_input(out, Text::plain(arguments));
    CHECK(out == text);
  }
}

TEST_CASE("text is told as soon as it is known") {
  CustomInput input;
  std::string out;
  input.feed(R"({"input":"ab)", out);
  CHECK(out == "ab");
  input.feed("\\", out);
  CHECK(out == "ab");
  input.feed("n", out);
  CHECK(out == "ab\n");
}

TEST_CASE("arguments without an input are held to a limit and then passed on") {
  const std::string long_one = "{\"x\":\"" + std::string(CustomInput::kHeldBytesMax, 'y');
  CustomInput input;
  std::string out;
  input.feed(long_one, out);
  CHECK(out == long_one);
  input.feed("z", out);
  CHECK(out == long_one + "z");
}

TEST_CASE("a grammar stands behind the description of a tool, flat or nested") {
  Tool tool;
  tool.description = Text::escaped(R"(Edits \"files\".)");
  std::string out;
  append_custom_description(out, tool);
  CHECK(out == "Edits \"files\".");
  tool.format = R"({"type":"grammar","syntax":"lark","definition":"start: \"a\"\n"})";
  out.clear();
  append_custom_description(out, tool);
  CHECK(out == "Edits \"files\".\n\nThe input must match this grammar (lark):\nstart: \"a\"\n");
  tool.description = Text();
  tool.format = R"({"type":"grammar","grammar":{"syntax":"regex","definition":"a+"}})";
  out.clear();
  append_custom_description(out, tool);
  CHECK(out == "The input must match this grammar (regex):\na+");
}

}  // namespace
}  // namespace hw::translate
