#include "engine_server/prompt_tokens.h"

#include "base/text.h"

namespace hw::engine_server {
namespace {

Result<std::vector<engine::Token>> checked(const std::vector<int64_t>& given, int vocabulary_size) {
  std::vector<engine::Token> tokens;
  tokens.reserve(given.size());
  for (const int64_t token : given) {
    if (token < 0 || token >= vocabulary_size) {
      return fail(ErrorCode::kBadRequest,
                  concat("prompt: ", token, " is no token; expected 0 to ", vocabulary_size - 1));
    }
    tokens.push_back(static_cast<engine::Token>(token));
  }
  return tokens;
}

}  // namespace

Result<std::vector<engine::Token>> prompt_tokens(const CompletionRequest& request,
                                                 const engine::Tokenizer& tokenizer) {
  if (request.dialect == Dialect::kOpenaiChat) return tokenizer.encode_chat(request.messages);
  if (request.prompt_kind == PromptKind::kTokens)
    return checked(request.prompt_tokens, tokenizer.vocabulary_size());
  return tokenizer.encode(request.prompt);
}

}  // namespace hw::engine_server
