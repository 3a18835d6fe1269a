#include "settings/shell.h"

#include <doctest/doctest.h>

using namespace hw::settings;

namespace {

// The value and the line of NAME; empty where there is none.
std::string value_of(std::string_view text) {
  std::string value;
  int line = 0;
  return dotenv_value(text, "NAME", value, line) ? value + "@" + std::to_string(line) : "";
}

}  // namespace

TEST_CASE("words of a shell are quoted where they must be") {
  CHECK(shell_quoted("http://h:1/v1") == "http://h:1/v1");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("$(x)") == "'$(x)'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
}

TEST_CASE("a variable is read from a file in each way of writing it, the last line counts") {
  CHECK(value_of("") == "");
  CHECK(value_of("# NAME=x\nOTHER=1\nNAMES=2\n") == "");
  CHECK(value_of("NAME=a") == "a@1");
  CHECK(value_of("A=1\n  export NAME = 'a b' # c\r\n") == "a b@2");
  CHECK(value_of("NAME=\"q\"\nNAME=z # c\n") == "z@2");
  CHECK(value_of("NAME=\n") == "@1");
  CHECK(value_of("NAME=\"x\" ? c\n") == "\"x\" ? c@1");
}

TEST_CASE("a variable is set in its line, else in a new last one, all else stays") {
  CHECK(with_dotenv("", "NAME", "v") == "NAME=v\n");
  CHECK(with_dotenv("A=1", "NAME", "v") == "A=1\nNAME=v\n");
  CHECK(with_dotenv("# mine\nexport NAME='old' # why\nB=2\n", "NAME", "v") ==
        "# mine\nexport NAME=v # why\nB=2\n");
  CHECK(with_dotenv("NAME=\"v\"\r\n", "NAME", "v") == "NAME=\"v\"\r\n");
  CHECK(with_dotenv("NAME=old\r\n", "NAME", "a b") == "NAME='a b'\r\n");
}
