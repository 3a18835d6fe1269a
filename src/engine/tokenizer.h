// Text to tokens and back, as the model's vocabulary and chat template say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/request.h"

namespace hw::engine {

// One message of a conversation; both are valid UTF-8.
struct ChatMessage {
  std::string role;  // "system", "user", "assistant", ...
  std::string content;
};

// Every function may be called from any thread at once. Text that comes from a caller is never
// read as a special token: "<|im_end|>" in it is eight characters and ends nothing.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Plain text, with the model's begin token where it wants one.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  // The conversation in the model's chat template, open for the assistant's answer. kBadRequest
  // where the template does not take it.
  virtual Result<std::vector<Token>> encode_chat(
      const std::vector<ChatMessage>& messages) const = 0;
  // The bytes of a token; may be part of a UTF-8 character, empty for special tokens.
  virtual std::string piece(Token token) const = 0;
  // Tokens are 0 to vocabulary_size() - 1.
  virtual int vocabulary_size() const = 0;
};

}  // namespace hw::engine
