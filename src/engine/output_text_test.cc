#include "engine/output_text.h"

#include <doctest/doctest.h>

#include "base/random.h"

namespace hw::engine {
namespace {

// Feeds the pieces and gives all that came out; checks that each part is whole characters.
std::string feed(const std::vector<std::string>& pieces, const std::vector<std::string>& stop) {
  OutputText text(stop);
  std::string all;
  for (const std::string& piece : pieces) {
    const std::string part = text.push(piece);
    if (!part.empty()) CHECK((part[0] & 0xC0) != 0x80);
    all += part;
  }
  return all + text.flush();
}

std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  return bytes;
}

// The answer must be the same for every cut into two and three pieces, and byte by byte.
void check_all_splits(const std::string& text, const std::vector<std::string>& stop,
                      const std::string& expected) {
  CAPTURE(text);
  CHECK(feed({text}, stop) == expected);
  CHECK(feed(bytes_of(text), stop) == expected);
  for (size_t i = 0; i <= text.size(); ++i) {
    for (size_t j = i; j <= text.size(); ++j) {
      CHECK(feed({text.substr(0, i), text.substr(i, j - i), text.substr(j)}, stop) == expected);
    }
  }
}

TEST_CASE("a stop string ends the answer before it, wherever tokens are cut") {
  check_all_splits("one two END three", {"END"}, "one two ");
  check_all_splits("ENENDx", {"END"}, "EN");
  check_all_splits("aaab", {"aab"}, "a");
  check_all_splits("END", {"END"}, "");
  check_all_splits("no stop here", {"END"}, "no stop here");
  check_all_splits("ends with EN", {"END"}, "ends with EN");
  check_all_splits("x\n\ny", {"\n\n", "\n"}, "x");
}

TEST_CASE("of several stop strings the one complete first counts, whatever the cut") {
  check_all_splits("0abc", {"abc", "b"}, "0a");
  check_all_splits("0abc", {"bc", "abc"}, "0");
  check_all_splits("0xyz", {"q", "yz"}, "0x");
}

TEST_CASE("characters are never cut") {
  check_all_splits("a\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80!", {},
                   "a\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80!");
  OutputText text({});
  CHECK(text.push("\xE2\x82").empty());
  CHECK(text.push("\xAC") == "\xE2\x82\xAC");
}

TEST_CASE("stop strings of several bytes are found across the cuts of their characters") {
  check_all_splits("a\xE3\x80\x82\xE3\x80\x81z", {"\xE3\x80\x81"}, "a\xE3\x80\x82");
}

TEST_CASE("bytes that are no UTF-8 come out as U+FFFD") {
  const std::string bad = "\xEF\xBF\xBD";
  check_all_splits("a\xFFz", {}, "a" + bad + "z");
  check_all_splits("a\xC3z", {}, "a" + bad + "z");
  check_all_splits("a\xE2\x82z", {}, "a" + bad + "z");
  check_all_splits("\xC0\xAF", {}, bad + bad);
  check_all_splits("\xED\xA0\x80", {}, bad + bad + bad);
  check_all_splits("\xF4\x90\x80\x80", {}, bad + bad + bad + bad);
  check_all_splits("cut \xF0\x9F\x98", {}, "cut " + bad);
}

TEST_CASE("what may become a stop string is held back and given out when it does not") {
  OutputText text({"STOP"});
  CHECK(text.push("go ST") == "go ");
  CHECK(text.push("A") == "STA");
  CHECK(text.push("STO").empty());
  CHECK(text.flush() == "STO");
  CHECK_FALSE(text.stopped());
}

TEST_CASE("after the stop nothing comes") {
  OutputText text({"."});
  CHECK(text.push("a.b") == "a");
  CHECK(text.stopped());
  CHECK(text.push("more").empty());
  CHECK(text.flush().empty());
}

TEST_CASE("random text and stops: the same answer for every random cut") {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint64_t n = random.below(24); n > 0; --n)
      text += static_cast<char>('a' + random.below(2));
    std::vector<std::string> stop;
    for (uint64_t n = random.below(4); n > 0; --n) {
      std::string one;
      for (uint64_t m = 1 + random.below(5); m > 0; --m) {
        one += static_cast<char>('a' + random.below(2));
      }
      stop.push_back(one);
    }
    const std::string expected = feed(bytes_of(text), stop);
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + random.below(6);
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    CAPTURE(text);
    CHECK(feed(pieces, stop) == expected);
  }
}

}  // namespace
}  // namespace hw::engine
