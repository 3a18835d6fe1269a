#include "json/scan.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace hw::json {
namespace {

// Reads a whole document into "path=raw" lines, children before their parents' ranges.
void list(Value value, const std::string& path, std::vector<std::string>& out) {
  if (value.kind() == Kind::kObject) {
    value.object().each([&](std::string_view key, Value child) {
      list(child, path + "." + std::string(key), out);
    });
  } else if (value.kind() == Kind::kArray) {
    int i = 0;
    value.array().each([&](Value child) { list(child, path + "." + std::to_string(i++), out); });
  }
  out.push_back(path + "=" + std::string(value.raw()));
}

std::string fault_of(std::string_view text) {
  Document document;
  if (Status status = document.open(text); !status) return status.error().message;
  std::vector<std::string> ignored;
  document.root().each([&](std::string_view, Value value) { list(value, "", ignored); });
  if (Status status = document.finish(); !status) return status.error().message;
  return "";
}

constexpr std::string_view kChunk =
    R"({"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi — 🦀",)"
    R"("tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}]},)"
    R"("finish_reason":null}],"usage":{"prompt_tokens":12,)"
    R"("prompt_tokens_details":{"cached_tokens":8}}})";

TEST_CASE("fields of a chat chunk are read at any depth") {
  Document document;
  REQUIRE(document.open(kChunk));
  Object root = document.root();
  const Value choice = root.find("choices").array().first();
  const Value delta = choice.object().find("delta");
  CHECK(delta.object().find("content").text() == "Hi — 🦀");
  const Value call = delta.object().find("tool_calls").array().first();
  CHECK(call.object().find("function").object().find("arguments").text() == R"({"a":1})");
  CHECK(choice.object().find("finish_reason").is_null());
  CHECK(choice.object().find("index").integer() == 0);
  const Value details = root.find("usage").object().find("prompt_tokens_details");
  CHECK(details.object().find("cached_tokens").integer() == 8);
  CHECK(document.finish());
}

TEST_CASE("every value tells its byte range, blanks around it excluded") {
  const std::string text = " {\"a\" : [ 1 , {\"b\":\"x y \"} ] ,\n\"c\":\ttrue  } \n";
  Document document;
  REQUIRE(document.open(text));
  std::vector<std::string> lines;
  document.root().each(
      [&](std::string_view key, Value value) { list(value, std::string(key), lines); });
  CHECK(lines == std::vector<std::string>{"a.0=1", "a.1.b=\"x y \"", "a.1={\"b\":\"x y \"}",
                                          "a=[ 1 , {\"b\":\"x y \"} ]", "c=true"});
  const Range array = document.root().find("a").array().range();
  CHECK(text.substr(array.offset, array.length) == "[ 1 , {\"b\":\"x y \"} ]");
  CHECK(Array().range().length == 0);
  const Range all = document.root().range();
  CHECK(all.offset == 1);
  CHECK(text.substr(all.offset, all.length) == text.substr(1, text.size() - 3));
  CHECK(document.finish());
}

TEST_CASE("values may be read late, out of order and twice") {
  Document document;
  REQUIRE(document.open(R"({"a":{"x":[1,2,3]},"b":"second","c":{}})"));
  Value a;
  Value b;
  document.root().each([&](std::string_view key, Value value) {
    if (key == "a") a = value;
    if (key == "b") b = value;
  });
  CHECK(b.text() == "second");
  for (int round = 0; round < 2; ++round) {
    CHECK(a.object().find("x").array().count() == 3);
    CHECK(a.raw() == R"({"x":[1,2,3]})");
  }
  CHECK(document.root().find("c").object().empty());
  CHECK_FALSE(a.object().empty());
}

TEST_CASE("getters of another kind give nothing and break nothing") {
  Document document;
  REQUIRE(document.open(R"({"n":null,"s":"t","i":7,"o":{},"a":[],"t":true})"));
  const Object root = document.root();
  CHECK(root.find("n").array().count() == 0);
  CHECK(root.find("n").object().empty());
  CHECK(root.find("s").integer() == std::nullopt);
  CHECK(root.find("s").boolean() == std::nullopt);
  CHECK(root.find("i").text() == std::nullopt);
  CHECK(root.find("i").boolean() == std::nullopt);
  CHECK(root.find("o").array().first().is_null());
  CHECK(root.find("a").object().range().length == 0);
  CHECK(root.find("t").number() == std::nullopt);
  CHECK(root.find("t").boolean() == true);
  CHECK(root.find("absent").is_null());
  CHECK(root.find("absent").raw() == "");
  CHECK(root.find("absent").text_or("x") == "x");
  CHECK(document.finish());
}

TEST_CASE("a key that comes twice is given twice and find takes the last") {
  Document document;
  REQUIRE(document.open(R"({"model":"a","model":"b"})"));
  int seen = 0;
  document.root().each([&](std::string_view key, Value) { seen += key == "model"; });
  CHECK(seen == 2);
  CHECK(document.root().find("model").text() == "b");
}

TEST_CASE("keys and strings are unescaped, halves of pairs replaced") {
  Document document;
  REQUIRE(document.open(
      R"({"mod\u0065l":"a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83e\udd80","lone":"x\ud83ey\udd80"})"));
  CHECK(document.root().find("model").text() == "a\"\\/\b\f\n\r\té€🦀");
  CHECK(document.root().find("lone").text() == "x\xef\xbf\xbdy\xef\xbf\xbd");
  CHECK(document.finish());
}

TEST_CASE("has_text tells empty strings from full ones") {
  Document document;
  REQUIRE(document.open(R"({"a":"","b":" ","c":null,"d":1,"e":"\n" })"));
  const Object root = document.root();
  CHECK_FALSE(root.find("a").has_text());
  CHECK(root.find("b").has_text());
  CHECK_FALSE(root.find("c").has_text());
  CHECK_FALSE(root.find("d").has_text());
  CHECK(root.find("e").has_text());
}

TEST_CASE("numbers are read as they are meant") {
  Document document;
  REQUIRE(document.open(R"({"v":[0,-0,12.0,1.2e1,9223372036854775807,-9223372036854775808,)"
                        R"(9223372036854775808,1.5,1e400,0.1]})"));
  std::vector<std::optional<int64_t>> integers;
  std::vector<std::optional<double>> numbers;
  document.root().find("v").array().each([&](Value value) {
    integers.push_back(value.integer());
    numbers.push_back(value.number());
  });
  CHECK(integers == std::vector<std::optional<int64_t>>{0, 0, 12, 12, INT64_MAX, INT64_MIN,
                                                        std::nullopt, std::nullopt, std::nullopt,
                                                        std::nullopt});
  CHECK(numbers[7] == 1.5);
  CHECK(numbers[8] == std::nullopt);
  CHECK(numbers[9] == 0.1);
  CHECK(document.finish());
}

TEST_CASE("faults are told with their place") {
  CHECK(fault_of("") == "there is no JSON (byte 0)");
  CHECK(fault_of(" \n ") == "there is no JSON (byte 3)");
  CHECK(fault_of("[1]") == "the JSON text is not an object (byte 0)");
  CHECK(fault_of(R"({"a":1)") == "the JSON object is not closed (byte 6)");
  CHECK(fault_of(R"({"a":"x)") == "a string is not closed (byte 7)");
  CHECK(fault_of("{\"a\":\"x\ny\"}") == "a control character stands bare in a string (byte 7)");
  CHECK(fault_of("{\"a\":\"\xc3\x28\"}") == "the JSON text is not UTF-8 (byte 6)");
  CHECK(fault_of(R"({"a" 1})") == "a colon is missing behind a key (byte 5)");
  CHECK(fault_of(R"({"a":1 "b":2})") ==
        "a comma or the end of its object or array is missing (byte 7)");
  CHECK(fault_of(R"({"a":1,})") == "a key is missing (byte 7)");
  CHECK(fault_of(R"({a:1})") == "a key is missing (byte 1)");
  CHECK(fault_of(R"({"a":})") == "a value is missing (byte 5)");
  CHECK(fault_of(R"({"a":[1,]})") == "a value is missing (byte 8)");
  CHECK(fault_of(R"({"a":nope})") == "this is no JSON value (byte 5)");
  CHECK(fault_of(R"({"a":1}{"b":2})") == "something follows the JSON object (byte 7)");
  CHECK(fault_of(R"({"a":[1}})") ==
        "a comma or the end of its object or array is missing (byte 7)");
  CHECK(fault_of(R"({"a":1})") == "");
}

TEST_CASE("a bad escape or number is a fault only for those who read it") {
  for (const std::string_view text : {R"({"a":"\q"})", R"({"a":"\u12g4"})", R"({"a":"\u12"})"}) {
    Document document;
    REQUIRE(document.open(text));
    CHECK(document.root().find("b").is_null());
    CHECK(document.finish());
    CHECK(document.root().find("a").text() == std::nullopt);
    CHECK(document.error().message == "a string has an escape that JSON does not know (byte 5)");
    CHECK_FALSE(document.finish());
  }
  for (const std::string_view text :
       {R"({"a":01})", R"({"a":1.})", R"({"a":-})", R"({"a":1e})", R"({"a":1x})"}) {
    Document document;
    REQUIRE(document.open(text));
    CHECK(document.root().find("a").integer() == std::nullopt);
    CHECK(document.error().message == "a number is malformed (byte 5)");
  }
}

TEST_CASE("the first fault sticks and ends every loop") {
  Document document(ErrorCode::kUpstreamDialect);
  REQUIRE(document.open(R"({"a":[1 2],"b":3})"));
  int given = 0;
  document.root().each(
      [&](std::string_view, Value value) { value.array().each([&](Value) { ++given; }); });
  CHECK(given == 1);
  CHECK(document.error().code == ErrorCode::kUpstreamDialect);
  const std::string first = document.error().message;
  CHECK(document.root().find("b").is_null());
  CHECK(document.finish().error().message == first);
}

TEST_CASE("any cut of a document is refused") {
  for (size_t size = 0; size < kChunk.size(); ++size) {
    CHECK_MESSAGE(fault_of(kChunk.substr(0, size)) != "", "cut at " << size);
  }
  CHECK(fault_of(kChunk) == "");
}

TEST_CASE("no byte behind the text is read") {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* mapped =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(mapped != MAP_FAILED);
  char* const wall = static_cast<char*>(mapped) + page;
  REQUIRE(mprotect(wall, page, PROT_NONE) == 0);
  for (size_t cut = 0; cut <= kChunk.size(); ++cut) {
    char* const begin = wall - cut;
    std::memcpy(begin, kChunk.data(), cut);
    CHECK((fault_of({begin, cut}) == "") == (cut == kChunk.size()));
  }
  std::memcpy(wall - 7, "{\"a\":12", 7);
  CHECK(fault_of({wall - 7, 7}) != "");
  std::memcpy(wall - 3, "{\"\xf0", 3);
  CHECK(fault_of({wall - 3, 3}) != "");
  munmap(mapped, 2 * page);
}

TEST_CASE("documents nest, reopen and live on several threads") {
  Document outer;
  REQUIRE(outer.open(R"({"arguments":"{\"city\":\"Z\\u00fcrich\"}","n":1})"));
  const std::string_view arguments = *outer.root().find("arguments").text();
  std::string city;
  {
    Document inner;
    REQUIRE(inner.open(arguments));
    city = *inner.root().find("city").text();
  }
  CHECK(city == "Zürich");
  CHECK(outer.root().find("n").integer() == 1);
  REQUIRE(outer.open(R"({"m":2})"));
  CHECK(outer.root().find("m").integer() == 2);
  std::thread([] {
    Document other;
    CHECK(other.open(kChunk));
    CHECK(other.finish());
  }).join();
}

TEST_CASE("a document that failed to open reads as empty and can be opened again") {
  Document document;
  CHECK_FALSE(document.open("{"));
  CHECK(document.root().empty());
  CHECK_FALSE(document.finish());
  REQUIRE(document.open("{}"));
  CHECK(document.finish());
}

TEST_CASE("a large document and deep nesting are scanned without recursion") {
  std::string text = R"({"messages":[)";
  for (int i = 0; i < 5000; ++i) text += R"({"role":"user","content":"a\nb, {c} [d] \"e\""},)";
  text +=
      "0],\"deep\":" + std::string(200000, '[') + std::string(200000, ']') + ",\"model\":\"m\"}";
  Document document;
  REQUIRE(document.open(text));
  CHECK(document.root().find("model").text() == "m");
  CHECK(document.root().find("messages").array().count() == 5001);
  CHECK(document.finish());
}

}  // namespace
}  // namespace hw::json
