#include "settings/toml_edit.h"

#include <doctest/doctest.h>

using namespace hw;
using namespace hw::settings;

namespace {

std::string with(std::string_view text, const TomlEdit::Path& path, std::string_view value,
                 Existing existing = Existing::kReplace) {
  TomlEdit edit(text);
  edit.set_text(path, value, existing);
  const Result<std::string> out = edit.finish();
  return out.has_value() ? *out : "failed: " + out.error().message;
}

}  // namespace

TEST_CASE("a value that is there is replaced, its comment and its form stay") {
  CHECK(with("model = \"gpt\"   # mine\n[a]\nmodel = 'x'\n", {"model"}, "m") ==
        "model = \"m\"   # mine\n[a]\nmodel = 'x'\n");
  CHECK(with("a.b = 'old'\n", {"a", "b"}, "m") == "a.b = \"m\"\n");
  CHECK(with("t = { b = 'old', c = 1 }\n", {"t", "b"}, "m") == "t = { b = \"m\", c = 1 }\n");
  CHECK(with("[ t . \"u\" ]\nb = '''\nlong''' # c\n", {"t", "u", "b"}, "m") ==
        "[ t . \"u\" ]\nb = \"m\" # c\n");
  CHECK(with("s = \"\"\"\nmodel = \"no\"\n\"\"\"\nmodel = 1\n", {"model"}, "m") ==
        "s = \"\"\"\nmodel = \"no\"\n\"\"\"\nmodel = \"m\"\n");
}

TEST_CASE("an equal string stays as it is written") {
  CHECK(with("model = 'm'\n", {"model"}, "m") == "model = 'm'\n");
  CHECK(with("model = 'm'\n", {"model"}, "n", Existing::kKeep) == "model = 'm'\n");
}

TEST_CASE("a new key of the root goes behind the last one, before the first table") {
  CHECK(with("a = [\n  1, # one ]\n]\n\n# of t\n[t]\nb = 1\n", {"m"}, "x") ==
        "a = [\n  1, # one ]\n]\nm = \"x\"\n\n# of t\n[t]\nb = 1\n");
  CHECK(with("[t]\nb = 1\n", {"m"}, "x") == "m = \"x\"\n\n[t]\nb = 1\n");
  CHECK(with("# head\n\n[t]\nb = 1\n", {"m"}, "x") == "# head\n\nm = \"x\"\n\n[t]\nb = 1\n");
  CHECK(with("# of t\n[t]\nb = 1\n", {"m"}, "x") == "m = \"x\"\n\n# of t\n[t]\nb = 1\n");
  CHECK(with("", {"m"}, "x") == "m = \"x\"\n");
  CHECK(with("# only", {"m"}, "x") == "# only\nm = \"x\"\n");
  CHECK(with("a = 1", {"m"}, "x") == "a = 1\nm = \"x\"\n");
}

TEST_CASE("a new key of a table goes where the table is written") {
  CHECK(with("[p.h]\na = 1 # one\n\n[q]\n", {"p", "h", "m"}, "x") ==
        "[p.h]\na = 1 # one\nm = \"x\"\n\n[q]\n");
  CHECK(with("[p.h]\n\n[q]\n", {"p", "h", "m"}, "x") == "[p.h]\nm = \"x\"\n\n[q]\n");
  CHECK(with("[p]\nh.a = 1\n", {"p", "h", "m"}, "x") == "[p]\nh.a = 1\nh.m = \"x\"\n");
  CHECK(with("p.h.a = 1\n[q]\n", {"p", "h", "m"}, "x") == "p.h.a = 1\np.h.m = \"x\"\n[q]\n");
  CHECK(with("p = { h = { a = 1 } }\n", {"p", "h", "m"}, "x") ==
        "p = { h = { a = 1, m = \"x\" } }\n");
  CHECK(with("p = { }\n", {"p", "h", "m"}, "x") == "p = { h.m = \"x\" }\n");
}

TEST_CASE("a new table goes behind its neighbours, else to the end") {
  CHECK(with("[p.o]\na = 1\n\n[q]\nb = 1\n", {"p", "h", "m"}, "x") ==
        "[p.o]\na = 1\n\n[p.h]\nm = \"x\"\n\n[q]\nb = 1\n");
  CHECK(with("a = 1\n", {"p", "h", "m"}, "x") == "a = 1\n\n[p.h]\nm = \"x\"\n");
  CHECK(with("[q]\r\na = 1\r\n", {"p", "h", "m"}, "x") ==
        "[q]\r\na = 1\r\n\r\n[p.h]\r\nm = \"x\"\r\n");
  CHECK(with("", {"p", "h", "m"}, "x") == "[p.h]\nm = \"x\"\n");
}

TEST_CASE("what cannot be changed safely fails and changes nothing") {
  CHECK(with("a = \n", {"m"}, "x").starts_with("failed: line 1: "));
  CHECK(with("p = 1\n", {"p", "m"}, "x") == "failed: line 1: \"p\" is not a table");
  CHECK(with("[p]\n", {"p"}, "x") == "failed: \"p\" is a table");
  CHECK(with("[[p]]\na = 1\n[[p]]\n", {"p", "h", "m"}, "x").starts_with("failed: "));
  CHECK(with("\"mod\\u0065l\" = 'a'\n", {"model"}, "x").starts_with("failed: "));
}

TEST_CASE("every cut of a file fails or gives TOML that has the key") {
  const std::string_view whole =
      "a = [ { b = 'x', c = [1] }, {} ]\n[p.\"h.i\"]\nd = 1979-05-27 07:32:00\ne = '''z'''''\n"
      "f = { g.h = \"\\\"\", i = true }\n";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string out = with(whole.substr(0, cut), {"p", "h.i", "m"}, "v");
    CAPTURE(cut);
    if (out.starts_with("failed: ")) continue;
    const auto tree = config::parse_document(out);
    REQUIRE(tree.has_value());
    CHECK(find_path(*tree, {"p", "h.i", "m"})->text == "v");
  }
}
