#include "llama/tokenizer.h"

#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"

namespace hw::llama {
namespace {

using Specials = Weights::Specials;
using Begin = Weights::Begin;

// Words that stand for the contents while the template is applied; nobody can guess them.
std::string secret_word(size_t index) {
  uint64_t bits[2];
  secure_random(bits, sizeof bits);
  std::string word = concat("content", index, "x");
  append_hex(word, bits, sizeof bits);
  return word;
}

}  // namespace

ModelTokenizer::ModelTokenizer(std::shared_ptr<const Weights> weights)
    : weights_(std::move(weights)), template_(weights_->chat_template()) {
  const auto known = [this] {
    return !template_.empty() && weights_->apply_template(template_, {{"user", "?"}}).has_value();
  };
  if (known()) return;
  log_warning("engine", template_.empty() ? "the model has no chat template; ChatML is used"
                                          : "the model's chat template is unknown; ChatML is used");
  template_ = "chatml";
}

std::vector<Token> ModelTokenizer::encode(std::string_view text) const {
  return weights_->tokenize(text, Specials::kAsText, Begin::kAsModelWants);
}

// The template is applied to words that stand for the contents, and the contents are put in after
// its special tokens have been read: none in a content is.
Result<std::vector<Token>> ModelTokenizer::encode_chat(
    const std::vector<ChatMessage>& messages) const {
  std::vector<ChatMessage> stand_ins;
  for (const ChatMessage& message : messages) {
    stand_ins.push_back({message.role, secret_word(stand_ins.size())});
  }
  const Result<std::string> text = weights_->apply_template(template_, stand_ins);
  if (!text) return fail(text.error());

  std::vector<Token> tokens;
  std::string_view rest = *text;
  const auto add = [&](std::string_view part, Specials specials) {
    const Begin begin = tokens.empty() ? Begin::kAsModelWants : Begin::kWithout;
    const std::vector<Token> more = weights_->tokenize(part, specials, begin);
    tokens.insert(tokens.end(), more.begin(), more.end());
  };
  for (size_t i = 0; i < messages.size(); ++i) {
    const size_t at = rest.find(stand_ins[i].content);
    if (at == std::string_view::npos) {
      return fail(ErrorCode::kBadRequest, concat("messages[", i,
                                                 "]: the model's chat template has "
                                                 "no place for the role ",
                                                 messages[i].role));
    }
    add(rest.substr(0, at), Specials::kParsed);
    add(messages[i].content, Specials::kAsText);
    rest.remove_prefix(at + stand_ins[i].content.size());
  }
  add(rest, Specials::kParsed);
  return tokens;
}

std::string ModelTokenizer::piece(Token token) const {
  return weights_->piece(token);
}

}  // namespace hw::llama
