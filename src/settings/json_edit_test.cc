#include "settings/json_edit.h"

#include <doctest/doctest.h>

using namespace hw;
using namespace hw::settings;

namespace {

std::string with(std::string_view text, const JsonEdit::Path& path, std::string_view value,
                 Existing existing = Existing::kReplace) {
  JsonEdit edit(text);
  edit.set_text(path, value, existing);
  const Result<std::string> out = edit.finish();
  return out.has_value() ? *out : "failed: " + out.error().message;
}

std::string with_item(std::string_view text, const JsonEdit::Path& path, std::string_view value) {
  JsonEdit edit(text);
  edit.add_text(path, value);
  const Result<std::string> out = edit.finish();
  return out.has_value() ? *out : "failed: " + out.error().message;
}

}  // namespace

TEST_CASE("a member that is there is replaced where it stands, every other byte stays") {
  CHECK(with("{ \"a\" : 1,\n\t\"env\":{\"M\":\"old\" , \"z\":[1, 2]}}\n", {"env", "M"}, "new") ==
        "{ \"a\" : 1,\n\t\"env\":{\"M\":\"new\" , \"z\":[1, 2]}}\n");
  CHECK(with("{\"a\": {\"b\": 1}}", {"a"}, "x") == "{\"a\": \"x\"}");
  CHECK(with("{\"a\": null}", {"a"}, "x") == "{\"a\": \"x\"}");
  CHECK(with("{\"a\": \"quo\\\"te\"}", {"b"}, "x") == "{\"a\": \"quo\\\"te\", \"b\": \"x\"}");
}

TEST_CASE("an equal value stays as it is written, also with other escapes") {
  const std::string_view text = "{\"u\": \"http:\\/\\/h\"}";
  CHECK(with(text, {"u"}, "http://h") == text);
  CHECK(with("{\"u\": \"x\"}", {"u"}, "y", Existing::kKeep) == "{\"u\": \"x\"}");
  CHECK(with("{\"u\": null}", {"u"}, "y", Existing::kKeep) == "{\"u\": \"y\"}");
}

TEST_CASE("a new member comes last, in the style of the file") {
  CHECK(with("{\n    \"a\": 1\n}\n", {"b"}, "x") == "{\n    \"a\": 1,\n    \"b\": \"x\"\n}\n");
  CHECK(with("{\n\t\"a\": 1\n}", {"e", "b"}, "x") ==
        "{\n\t\"a\": 1,\n\t\"e\": {\n\t\t\"b\": \"x\"\n\t}\n}");
  CHECK(with("{\"a\":1}", {"e", "b"}, "x") == "{\"a\":1,\"e\":{\"b\":\"x\"}}");
  CHECK(with("{\r\n  \"a\": {}\r\n}\r\n", {"a", "b"}, "x") ==
        "{\r\n  \"a\": {\r\n    \"b\": \"x\"\r\n  }\r\n}\r\n");
  CHECK(with("{\n  \"a\": { \"c\": 1 }\n}", {"a", "b"}, "x") ==
        "{\n  \"a\": { \"c\": 1, \"b\": \"x\" }\n}");
  CHECK(with("", {"e", "b"}, "x") == "{\n  \"e\": {\n    \"b\": \"x\"\n  }\n}\n");
  CHECK(with("{ }", {"b"}, "x") == "{\n  \"b\": \"x\"\n}");
  CHECK(with("{\n  \"e\": null\n}", {"e", "b", "c"}, "x") ==
        "{\n  \"e\": {\n    \"b\": {\n      \"c\": \"x\"\n    }\n  }\n}");
}

TEST_CASE("of a key that stands twice the last one is changed, as parsers read it") {
  CHECK(with("{\"a\": 1, \"a\": 2}", {"a"}, "x") == "{\"a\": 1, \"a\": \"x\"}");
}

TEST_CASE("a byte order mark stays, and places count it") {
  const Result<JsonNode> tree = parse_json("\xef\xbb\xbf{\"a\": 1}");
  REQUIRE(tree.has_value());
  CHECK(tree->find("a")->begin == 9);
  CHECK(with("\xef\xbb\xbf{\"a\": 1}", {"a"}, "x") == "\xef\xbb\xbf{\"a\": \"x\"}");
}

TEST_CASE("a list gets what it does not hold yet") {
  CHECK(with_item("{\"p\": {\"allow\": [\"A\", \"B\"]}}", {"p", "allow"}, "B") ==
        "{\"p\": {\"allow\": [\"A\", \"B\"]}}");
  CHECK(with_item("{\"p\": {\"allow\": [\"A\"]}}", {"p", "allow"}, "B") ==
        "{\"p\": {\"allow\": [\"A\", \"B\"]}}");
  CHECK(with_item("{\n  \"p\": [\n    \"A\"\n  ]\n}", {"p"}, "B") ==
        "{\n  \"p\": [\n    \"A\",\n    \"B\"\n  ]\n}");
  CHECK(with_item("{\n  \"q\": 1\n}", {"p"}, "B") ==
        "{\n  \"q\": 1,\n  \"p\": [\n    \"B\"\n  ]\n}");
}

TEST_CASE("what cannot be changed safely fails with its line and changes nothing") {
  CHECK(with("{\n  \"env\": []\n}", {"env", "a"}, "x") ==
        "failed: line 2: \"env\" is not an object");
  CHECK(with_item("{\"p\": {}}", {"p"}, "x") == "failed: line 1: \"p\" is not a list");
  CHECK(with("{\n  \"a\": 1,\n}", {"a"}, "x").starts_with("failed: line 3: "));
  CHECK(with("{\n  // c\n  \"a\": 1\n}", {"a"}, "x").starts_with("failed: line 2: "));
  CHECK(with("{\n  \"a\": nope\n}", {"b"}, "x").starts_with("failed: "));
  CHECK(with("[1]", {"a"}, "x").starts_with("failed: line 1: "));
  CHECK(with("{\"a\": \"\xff\"}", {"a"}, "x").starts_with("failed: "));
  CHECK(with("{\"a\": 1", {"a"}, "x").starts_with("failed: line 1: "));
}

TEST_CASE("every cut of a file fails or gives JSON again") {
  const std::string_view whole =
      "{\n  \"env\": { \"A\": \"b\\\"c\", \"D\": [ { } ] },\n  \"x\": null\n}\n";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string out = with(whole.substr(0, cut), {"env", "N"}, "v");
    if (!out.starts_with("failed: ")) CHECK(parse_json(out).has_value());
  }
}
