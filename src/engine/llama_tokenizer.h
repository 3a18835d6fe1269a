// The tokenizer of a GGUF model: its vocabulary and its chat template.
#pragma once

#include <string>
#include <vector>

#include "engine/llama_library.h"
#include "engine/tokenizer.h"

namespace hw::engine {

class LlamaTokenizer final : public Tokenizer {
 public:
  // Looks at the template once: where the library does not know it, ChatML is used, with a warning.
  // The weights outlive it.
  explicit LlamaTokenizer(const LlamaWeights& weights);

  std::vector<Token> encode(std::string_view text) const override;
  Result<std::vector<Token>> encode_chat(const std::vector<ChatMessage>& messages) const override;
  std::string piece(Token token) const override;
  int vocabulary_size() const override { return weights_.vocabulary_size(); }

 private:
  const LlamaWeights& weights_;
  std::string template_;
};

}  // namespace hw::engine
