#include <doctest/doctest.h>

#include "json/progress.h"

namespace hw::json {
namespace {

TEST_CASE("an object is complete with its last bracket, wherever it is cut") {
  const std::string_view value = R"({"a":["}\"\\",{"b":"]"}],"c":1})";
  for (size_t cut = 0; cut < value.size(); ++cut) {
    Progress progress;
    progress.feed(value.substr(0, cut));
    CHECK_FALSE(progress.complete());
    progress.feed(value.substr(cut));
    CHECK(progress.complete());
  }
}

TEST_CASE("nothing and scalars are never complete") {
  Progress progress;
  CHECK_FALSE(progress.complete());
  progress.feed("12");
  CHECK_FALSE(progress.complete());
  progress.feed("]");
  CHECK_FALSE(progress.complete());
}

}  // namespace
}  // namespace hw::json
