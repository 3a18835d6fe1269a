#include "verify/nearest.h"

#include <doctest/doctest.h>

namespace hw::verify {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("the nearest names come first") {
  const Strings names = {"llama-3-70b", "gpt-4o-mini", "gpt-4o", "claude-sonnet-4"};
  CHECK(nearest_names("gpt4o", names, 2) == Strings{"gpt-4o", "gpt-4o-mini"});
  CHECK(nearest_names("GPT-4O", names, 1) == Strings{"gpt-4o"});
  CHECK(nearest_names("claude-sonet-4", names, 1) == Strings{"claude-sonnet-4"});
}

TEST_CASE("a name that contains the other is near, however long") {
  const Strings names = {"abc", "vendor/some/long/path/smollm2-135m-instruct"};
  CHECK(nearest_names("smollm2-135m", names, 1).front() == names[1]);
}

TEST_CASE("there may be fewer names than asked for") {
  CHECK(nearest_names("a", Strings{}, 5).empty());
  CHECK(nearest_names("", Strings{"b"}, 5) == Strings{"b"});
  CHECK(nearest_names("a", Strings{std::string(100'000, 'x')}, 5).size() == 1);
}

}  // namespace
}  // namespace hw::verify
