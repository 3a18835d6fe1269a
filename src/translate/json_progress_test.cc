#include <doctest/doctest.h>

#include "translate/json_progress.h"

namespace hw::translate {
namespace {

TEST_CASE("an object is complete with its last bracket, wherever it is cut") {
  const std::string_view value = R"({"a":["}\"\\",{"b":"]"}],"c":1})";
  for (size_t cut = 0; cut < value.size(); ++cut) {
    JsonProgress progress;
    progress.feed(Text::plain(value.substr(0, cut)));
    CHECK_FALSE(progress.complete());
    progress.feed(Text::plain(value.substr(cut)));
    CHECK(progress.complete());
  }
}

TEST_CASE("escapes of the string that carries the value are no escapes of the value") {
  JsonProgress progress;
  progress.feed(Text::escaped(R"({\"a\":\"\\\"}\\\\)"));
  CHECK_FALSE(progress.complete());
  progress.feed(Text::escaped(R"(\"\u007d)"));
  CHECK(progress.complete());
}

TEST_CASE("nothing and scalars are never complete") {
  JsonProgress progress;
  CHECK_FALSE(progress.complete());
  progress.feed(Text::plain("12"));
  CHECK_FALSE(progress.complete());
  progress.feed(Text::plain("]"));
  CHECK_FALSE(progress.complete());
}

}  // namespace
}  // namespace hw::translate
