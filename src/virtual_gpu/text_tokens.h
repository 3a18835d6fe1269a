// Text to tokens without a vocabulary: a token is four ASCII bytes, or one other character.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer.h"

namespace hw::virtual_gpu {

// Ends an answer.
engine::Token end_token();
// Tokens there are, special ones included.
int vocabulary_size();
// A short text of one token: 1 to 4 ASCII bytes.
engine::Token token_of(std::string_view text);

// About as many tokens as a real vocabulary gives: English has about four bytes a token, Chinese
// about one character. Nothing is lost: the pieces of encode(text) are the text, bytes that are not
// UTF-8 included. A conversation has ChatML's marks around each message.
class TextTokens final : public engine::Tokenizer {
 public:
  std::vector<engine::Token> encode(std::string_view text) const override;
  Result<std::vector<engine::Token>> encode_chat(
      const std::vector<engine::ChatMessage>& messages) const override;
  std::string piece(engine::Token token) const override;
  int vocabulary_size() const override { return virtual_gpu::vocabulary_size(); }
};

}  // namespace hw::virtual_gpu
