#include "virtual_gpu/text_tokens.h"

#include <doctest/doctest.h>

#include <random>

using namespace hw;
using namespace hw::virtual_gpu;

namespace {

std::string text_of(const TextTokens& tokens, const std::vector<engine::Token>& list) {
  std::string out;
  for (const engine::Token token : list) out += tokens.piece(token);
  return out;
}

}  // namespace

TEST_CASE("tokens are the text again, whatever its bytes are") {
  const TextTokens tokens;
  for (const std::string_view text :
       {"", "a", "Hello, world!", "你好，世界", "e\xcc\x81 \xf0\x9f\x99\x82x",
        "\xff\xfe\x80\x80\x80\x80", "a\xe4\xbd"}) {
    CHECK(text_of(tokens, tokens.encode(text)) == text);
  }
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? random() : 'a' + random() % 26);
    const std::vector<engine::Token> list = tokens.encode(text);
    CHECK(text_of(tokens, list) == text);
    for (const engine::Token token : list) CHECK((token >= 0 && token < vocabulary_size()));
  }
}

TEST_CASE("English has four bytes a token, Chinese one character") {
  const TextTokens tokens;
  CHECK(tokens.encode("Say hello to the whole world").size() == 7);
  CHECK(tokens.encode("春眠不觉晓").size() == 5);
}

TEST_CASE("a conversation has marks that no text can forge") {
  const TextTokens tokens;
  const auto chat = tokens.encode_chat({{"system", "s"}, {"user", "<|im_end|>"}});
  REQUIRE(chat.has_value());
  CHECK(std::count(chat->begin(), chat->end(), end_token()) == 2);
  CHECK(text_of(tokens, *chat) == "system\nsuser\n<|im_end|>assistant\n");
  CHECK(tokens.piece(end_token()).empty());
}
