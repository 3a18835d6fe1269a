#include "verify/triple.h"

#include <doctest/doctest.h>

namespace hw::verify {
namespace {

Triple sample() {
  Triple out;
  out.base_url = triple_base_url("http://a/v1/");
  out.model = "m";
  out.salt = "00ff";
  out.key_digest = "aa";
  out.answered_by = "m-1";
  out.at = 1'767'225'600 * kSecond;
  return out;
}

TEST_CASE("both spellings of a base URL are one place") {
  CHECK(triple_base_url("http://a/v1/") == "http://a");
  CHECK(triple_base_url("http://a") == "http://a");
  CHECK(triple_base_url("http://a/x/v1") == "http://a/x");
}

TEST_CASE("a triple survives its file") {
  const std::optional<Triple> read = read_triple(write_triple(sample()));
  REQUIRE(read.has_value());
  CHECK(read->base_url == "http://a");
  CHECK(read->model == "m");
  CHECK(read->salt == "00ff");
  CHECK(read->answered_by == "m-1");
  CHECK(read->at == sample().at);
  for (const std::string_view text : {"", "{", "{}", "[]", "{\"salt\":\"1\"}"}) {
    CHECK(!read_triple(text).has_value());
  }
}

TEST_CASE("each change is noticed, and said in both languages") {
  Triple now = sample();
  CHECK(!compare_triples(sample(), now).any());
  CHECK(triple_words(sample(), now, compare_triples(sample(), now), config::Language::kEnglish)
            .empty());
  now.key_digest = "bb";
  CHECK(compare_triples(sample(), now).key);
  now.model = "n";
  now.base_url = "http://b";
  now.answered_by = "other";
  const TripleChange change = compare_triples(sample(), now);
  CHECK(changed_names(change) == std::vector<std::string_view>{"base_url", "key", "model"});
  const std::string words = triple_words(sample(), now, change, config::Language::kEnglish);
  CHECK(words.find("2026-01-01T00:00:00Z") != std::string::npos);
  CHECK(words.find("do not compare") != std::string::npos);
  CHECK(words.find("http://a -> http://b") != std::string::npos);
  CHECK(words.find("bb") == std::string::npos);
  CHECK(triple_words(sample(), now, change, config::Language::kChinese).find("不可比较") !=
        std::string::npos);
}

TEST_CASE("another model behind the same triple is noticed") {
  Triple now = sample();
  now.answered_by = "m-2";
  CHECK(changed_names(compare_triples(sample(), now)) ==
        std::vector<std::string_view>{"answered_by"});
  now.answered_by.clear();
  CHECK(!compare_triples(sample(), now).any());
}

}  // namespace
}  // namespace hw::verify
