#include "virtual_gpu/text_tokens.h"

#include <cstdint>

#include "base/assert.h"

namespace hw::virtual_gpu {

using engine::Token;

namespace {

// Four bytes of seven bits each, then one, two and three bytes of any value, then special tokens.
constexpr int kQuads = 1 << 28;
constexpr int kOnes = 1 << 8;
constexpr int kTwos = 1 << 16;
constexpr int kThrees = 1 << 24;
constexpr int kFirstOne = kQuads;
constexpr int kFirstTwo = kFirstOne + kOnes;
constexpr int kFirstThree = kFirstTwo + kTwos;
constexpr int kMessageBegin = kFirstThree + kThrees;
constexpr int kMessageEnd = kMessageBegin + 1;
constexpr int kSize = kMessageEnd + 1;

uint32_t byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool is_ascii(std::string_view text, size_t i) {
  return byte_at(text, i) < 0x80;
}

// One to three bytes.
Token short_token(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value = value << 8 | byte_at(bytes, i);
  const int first = bytes.size() == 1 ? kFirstOne : bytes.size() == 2 ? kFirstTwo : kFirstThree;
  return first + static_cast<Token>(value);
}

Token quad_token(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 7 | byte_at(bytes, i);
  return static_cast<Token>(value);
}

// How many bytes from `at` on are one token, at most 4.
size_t token_bytes(std::string_view text, size_t at) {
  size_t count = 1;
  if (is_ascii(text, at)) {
    while (count < 4 && at + count < text.size() && is_ascii(text, at + count)) ++count;
    return count;
  }
  // A character: its first byte and those that go on, of which a token holds three at most.
  while (count < 3 && at + count < text.size() && (byte_at(text, at + count) & 0xc0) == 0x80) {
    ++count;
  }
  return count;
}

void append_tokens(std::string_view text, std::vector<Token>& out) {
  for (size_t at = 0; at < text.size();) {
    const size_t count = token_bytes(text, at);
    const std::string_view bytes = text.substr(at, count);
    out.push_back(count == 4 ? quad_token(bytes) : short_token(bytes));
    at += count;
  }
}

std::string bytes_of(uint32_t value, int count) {
  std::string out;
  for (int i = count - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

}  // namespace

Token end_token() {
  return kMessageEnd;
}

int vocabulary_size() {
  return kSize;
}

Token token_of(std::string_view text) {
  HW_ASSERT(!text.empty() && text.size() <= 4);
  return text.size() == 4 ? quad_token(text) : short_token(text);
}

std::vector<Token> TextTokens::encode(std::string_view text) const {
  std::vector<Token> out;
  append_tokens(text, out);
  return out;
}

Result<std::vector<Token>> TextTokens::encode_chat(
    const std::vector<engine::ChatMessage>& messages) const {
  std::vector<Token> out;
  for (const engine::ChatMessage& message : messages) {
    out.push_back(kMessageBegin);
    append_tokens(message.role, out);
    append_tokens("\n", out);
    append_tokens(message.content, out);
    out.push_back(kMessageEnd);
  }
  out.push_back(kMessageBegin);
  append_tokens("assistant\n", out);
  return out;
}

std::string TextTokens::piece(Token token) const {
  HW_ASSERT(token >= 0 && token < kSize);
  if (token >= kMessageBegin) return {};
  if (token >= kFirstThree) return bytes_of(static_cast<uint32_t>(token - kFirstThree), 3);
  if (token >= kFirstTwo) return bytes_of(static_cast<uint32_t>(token - kFirstTwo), 2);
  if (token >= kFirstOne) return bytes_of(static_cast<uint32_t>(token - kFirstOne), 1);
  std::string out;
  for (int i = 3; i >= 0; --i) out += static_cast<char>(token >> (7 * i) & 0x7f);
  return out;
}

}  // namespace hw::virtual_gpu
