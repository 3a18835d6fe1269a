// The tokenizer of a GGUF model: its vocabulary and its chat template.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/tokenizer.h"
#include "llama/library.h"

namespace hw::llama {

class ModelTokenizer final : public engine::Tokenizer {
 public:
  // Looks at the template once: where the library does not know it, ChatML is used, with a warning.
  explicit ModelTokenizer(std::shared_ptr<const Weights> weights);

  std::vector<Token> encode(std::string_view text) const override;
  Result<std::vector<Token>> encode_chat(const std::vector<ChatMessage>& messages) const override;
  std::string piece(Token token) const override;
  int vocabulary_size() const override { return weights_->vocabulary_size(); }

 private:
  std::shared_ptr<const Weights> weights_;
  std::string template_;
};

}  // namespace hw::llama
