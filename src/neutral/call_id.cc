#include "neutral/call_id.h"

#include <algorithm>

#include "base/base64.h"
#include "json/writer.h"
#include "neutral/digest.h"

namespace hw::translate {
namespace {

constexpr std::string_view kEncoded = "hw64_";
constexpr std::string_view kDigest = "hwid_";

size_t bytes_max(Dialect dialect) {
  constexpr size_t kChat = 40;  // OpenAI refuses longer ones in chat, 64 is the others' limit
  return dialect == Dialect::kOpenaiChat ? kChat : 64;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// Chat and responses take any printable character.
bool is_legal(std::string_view id, Dialect to) {
  if (id.empty() || id.size() > bytes_max(to)) return false;
  if (to == Dialect::kAnthropicMessages) return std::all_of(id.begin(), id.end(), is_word);
  return std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

bool is_ours(std::string_view id) {
  return id.starts_with(kEncoded) || id.starts_with(kDigest);
}

void append_encoded(std::string& out, std::string_view id, Dialect to) {
  out += '"';
  if (kEncoded.size() + base64url_size(id.size()) <= bytes_max(to)) {
    out += kEncoded;
    append_base64url(out, id);
  } else {
    out += kDigest;
    append_digest(out, id);
  }
  out += '"';
}

}  // namespace

void append_id_down(std::string& out, const Text& id, Dialect to) {
  const std::string plain = id.str();
  if (is_legal(plain, to) && !is_ours(plain)) return json::append_quoted(out, plain);
  append_encoded(out, plain, to);
}

void append_id_up(std::string& out, const Text& id, Dialect to) {
  std::string plain = id.str();
  if (plain.starts_with(kEncoded)) {
    std::string decoded;
    if (decode_base64url(std::string_view(plain).substr(kEncoded.size()), decoded))
      plain = std::move(decoded);
  }
  if (is_legal(plain, to)) return json::append_quoted(out, plain);
  append_encoded(out, plain, to);
}

}  // namespace hw::translate
