#include "json/splice.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

namespace hw::json {
namespace {

constexpr std::string_view kBody = R"({"model":"gpt-4o", "x" : 1.50,"stream":true})";

TEST_CASE("one value changes and every other byte stays") {
  Document document;
  REQUIRE(document.open(kBody));
  Splice splice;
  splice.replace(document.root().find("model").range(), "\"smollm2\"");
  CHECK(splice.apply(kBody) == R"({"model":"smollm2", "x" : 1.50,"stream":true})");
  CHECK(splice.size(kBody.size()) == kBody.size() + 1);
}

TEST_CASE("a field is inserted behind the brace together with a replacement added earlier") {
  Document document;
  REQUIRE(document.open(kBody));
  Splice splice;
  splice.replace(document.root().find("model").range(), "\"m\"");
  splice.insert(document.root().range().offset + 1, R"("stream_options":{"include_usage":true},)");
  CHECK(splice.apply(kBody) ==
        R"({"stream_options":{"include_usage":true},"model":"m", "x" : 1.50,"stream":true})");
}

TEST_CASE("edits that touch each other and both ends come out in order") {
  Splice splice;
  splice.add(3, 3, "B");
  splice.add(0, 3, "A");
  splice.add(6, 0, "1");
  splice.add(6, 0, "2");
  CHECK(splice.apply("aaabbbc") == "AB12c");
  CHECK(splice.segments("aaabbbc").count == 5);
  CHECK(splice.apply("aaabbb") == "AB12");
}

TEST_CASE("without edits there is one segment, for nothing none") {
  const Splice splice;
  CHECK(splice.segments("abc").count == 1);
  CHECK(splice.segments("").count == 0);
  CHECK(splice.size(3) == 3);
}

TEST_CASE("segments are never more than 9 and join to what an edit by hand gives") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string document;
    for (int i = 0; i < 40; ++i) document += static_cast<char>('a' + random() % 26);
    Splice splice;
    std::string expected = document;
    // From the back, so that the offsets of the earlier edits stay true in `expected`.
    size_t limit = document.size();
    const size_t edits = random() % (kEditsMax + 1);
    for (size_t i = 0; i < edits; ++i) {
      const size_t end = random() % (limit + 1);
      const size_t offset = end - std::min<size_t>(end, random() % 5);
      const std::string inserted(random() % 3, 'X');
      splice.add(offset, end - offset, inserted);
      expected.replace(offset, end - offset, inserted);
      // Strictly before, since insertions at one place keep the order of adding.
      if (offset == 0) break;
      limit = offset - 1;
    }
    CHECK(splice.apply(document) == expected);
    CHECK(splice.size(document.size()) == expected.size());
    CHECK(splice.segments(document).count <= 2 * kEditsMax + 1);
  }
}

TEST_CASE("a cleared splice changes nothing") {
  Splice splice;
  splice.insert(0, "x");
  splice.clear();
  CHECK(splice.empty());
  CHECK(splice.apply("ab") == "ab");
}

}  // namespace
}  // namespace hw::json
