#include "json/check.h"

#include <bitset>

#include "json/literal.h"
#include "json/tokens.h"

namespace hw::json {
namespace {

// Walks all tokens once, with one bit for each open container.
class Checker {
 public:
  explicit Checker(const Tokens& tokens) : tokens_(tokens) {}

  bool run() {
    if (tokens_.at(0) != '{') return false;
    while (expected_ != Expected::kEnd) {
      if (!take()) return false;
    }
    return token_ == tokens_.count;
  }

 private:
  enum class Expected : uint8_t { kValue, kKey, kSeparator, kEnd };

  bool take() {
    switch (expected_) {
      case Expected::kValue:
        return take_value();
      case Expected::kKey:
        return take_key();
      case Expected::kSeparator:
        return take_separator();
      case Expected::kEnd:
        break;
    }
    return false;
  }

  bool take_value() {
    const char first = tokens_.at(token_);
    if (first == '{' || first == '[') return open(first);
    const bool fine = first == '"' ? is_string_literal(tokens_.slice(token_))
                                   : is_plain_literal(tokens_.slice(token_));
    ++token_;
    expected_ = Expected::kSeparator;
    return fine;
  }

  bool take_key() {
    const bool fine = tokens_.at(token_) == '"' && is_string_literal(tokens_.slice(token_)) &&
                      tokens_.at(token_ + 1) == ':';
    token_ += 2;
    expected_ = Expected::kValue;
    return fine;
  }

  bool take_separator() {
    const char c = tokens_.at(token_++);
    const bool in_object = is_object_[depth_];
    if (c == ',') {
      expected_ = in_object ? Expected::kKey : Expected::kValue;
      return true;
    }
    if (c != (in_object ? '}' : ']')) return false;
    close();
    return true;
  }

  bool open(char bracket) {
    if (depth_ == kDepthMax) return false;
    ++depth_;
    ++token_;
    is_object_[depth_] = bracket == '{';
    expected_ = bracket == '{' ? Expected::kKey : Expected::kValue;
    if (tokens_.at(token_) == (bracket == '{' ? '}' : ']')) {
      ++token_;
      close();
    }
    return true;
  }

  void close() {
    --depth_;
    expected_ = depth_ == 0 ? Expected::kEnd : Expected::kSeparator;
  }

  const Tokens& tokens_;
  uint32_t token_ = 0;
  int depth_ = 0;
  std::bitset<kDepthMax + 1> is_object_;
  Expected expected_ = Expected::kValue;
};

}  // namespace

bool is_json_object(std::string_view text) {
  TokenIndex* index = borrow_token_index();
  Tokens tokens;
  const bool fine =
      index_tokens(*index, text, tokens) == TokenFault::kNone && Checker(tokens).run();
  return_token_index(index);
  return fine;
}

}  // namespace hw::json
