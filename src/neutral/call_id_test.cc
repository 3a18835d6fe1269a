#include "neutral/call_id.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

namespace hw::translate {
namespace {

constexpr Dialect kAll[] = {Dialect::kOpenaiChat, Dialect::kOpenaiResponses,
                            Dialect::kAnthropicMessages};

std::string inside(std::string quoted) {
  REQUIRE(quoted.size() >= 2);
  return quoted.substr(1, quoted.size() - 2);
}

std::string down(std::string_view id, Dialect to) {
  std::string out;
  append_id_down(out, Text::plain(id), to);
  return inside(out);
}

// `id` as it stands in the client's JSON.
std::string up(std::string_view id, Dialect to) {
  std::string out;
  append_id_up(out, Text::plain(id), to);
  return inside(out);
}

size_t bytes_max(Dialect dialect) {
  return dialect == Dialect::kOpenaiChat ? 40 : 64;
}

bool is_word(std::string_view id) {
  return std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

TEST_CASE("an id that is legal on both sides stays as it is, both ways") {
  for (const Dialect to : kAll) {
    for (const std::string_view id : {"call_abc", "toolu_01A-b", "functions", "0"}) {
      CHECK(down(id, to) == id);
      CHECK(up(id, to) == id);
    }
  }
}

TEST_CASE("what the client's dialect does not take is encoded, and undone on the way back") {
  const std::string id = "functions.shell:0";
  const std::string encoded = down(id, Dialect::kAnthropicMessages);
  CHECK(encoded.starts_with("hw64_"));
  CHECK(is_word(encoded));
  CHECK(up(encoded, Dialect::kOpenaiChat) == id);
  CHECK(up(encoded, Dialect::kAnthropicMessages) == encoded);
  CHECK(down("", Dialect::kOpenaiChat).starts_with("hw64_"));
}

TEST_CASE("an upstream's id that looks like ours is told apart from ours") {
  for (const Dialect to : kAll) {
    const std::string once = down("call one", to);
    CHECK(down(once, to) != once);
    CHECK(down(once, to) != down("call one", to));
  }
}

TEST_CASE("ids are legal, stay different and are written alike every time, random ones too") {
  std::mt19937 random(7);
  for (const Dialect to : kAll) {
    std::set<std::string> ids, written;
    while (ids.size() < 3000) {
      std::string id;
      const size_t size = random() % 90;
      for (size_t i = 0; i < size; ++i) id += static_cast<char>(1 + random() % 127);
      if (!ids.insert(id).second) continue;
      const std::string legal = down(id, to);
      CHECK(legal == down(id, to));
      CHECK(written.insert(legal).second);
      CHECK(legal.size() <= bytes_max(to));
      CHECK(!legal.empty());
      if (to == Dialect::kAnthropicMessages) CHECK(is_word(legal));
    }
  }
}

TEST_CASE("a call and its result are called alike upstream, whatever came back from the client") {
  for (const Dialect client : kAll) {
    for (const Dialect upstream : kAll) {
      const std::string longest(200, 'x');
      for (const std::string_view id : {std::string_view("call.1"), std::string_view(longest)}) {
        const std::string told = down(id, client);
        CHECK(up(told, upstream) == up(told, upstream));
        CHECK(up(told, upstream).size() <= bytes_max(upstream));
      }
    }
  }
}

TEST_CASE("an id comes back to its upstream as it was wherever it fits into the client's") {
  for (const Dialect client : kAll) {
    for (const std::string_view id :
         {"toolu_01AbCdEfGhIjKlMnOpQrStUv", "call_x.y", "chatcmpl-tool-1", "a:b/c"}) {
      CHECK(up(down(id, client), Dialect::kOpenaiResponses) == id);
    }
  }
}

}  // namespace
}  // namespace hw::translate
