#include "probe/api_key.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace hw::probe {
namespace {

// Makers whose keys have one length. Lengths of others vary by age and kind of key.
struct KeyForm {
  std::string_view prefix;
  size_t bytes;
};
constexpr KeyForm kForms[] = {
    {"hw-", 46},  // Headway: 43 digits of base 62, 256 bits
    {"sk-ant-api03-", 108},
    {"sk-or-v1-", 73},  // OpenRouter: 64 hex digits
    {"AIza", 39},       // Google
    {"gsk_", 56},       // Groq
};

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_placeholder(std::string_view key) {
  std::string low(key);
  std::transform(low.begin(), low.end(), low.begin(), lower);
  if (key.starts_with('$') || key.starts_with('<') || key.starts_with("{{") ||
      key.starts_with('%')) {
    return true;
  }
  for (const std::string_view word : {"your", "api_key", "api-key", "apikey", "xxxx", "...", "***",
                                      "changeme", "placeholder", "replace"}) {
    if (low.find(word) != std::string::npos) return true;
  }
  return false;
}

// The start that names the maker: up to and including the last dash or underscore among the first
// bytes, as long as only letters, digits and dashes come before it.
std::string public_prefix(std::string_view key) {
  constexpr size_t kLookedAt = 14;
  size_t end = 0;
  for (size_t i = 0; i < std::min(key.size(), kLookedAt); ++i) {
    const char c = lower(key[i]);
    if (c == '-' || c == '_') {
      end = i + 1;
      if (key.substr(0, end) == "hw-") break;
    } else if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
      break;
    }
  }
  // A key that is all short words would be shown whole; then nothing of it is.
  return end * 2 > key.size() ? std::string() : std::string(key.substr(0, end));
}

bool begins_with_scheme(std::string_view key) {
  return key.size() > 7 && equal_ignoring_case(key.substr(0, 7), "bearer ");
}

}  // namespace

KeyLooks look_at_key(std::string_view key) {
  KeyLooks out;
  out.given = !key.empty();
  out.bytes = key.size();
  std::string_view bare = trim(key);
  out.has_scheme = begins_with_scheme(bare);
  if (out.has_scheme) bare = trim(bare.substr(7));
  for (const char c : key) {
    out.line_break = out.line_break || is_control(c);
    out.not_ascii = out.not_ascii || static_cast<unsigned char>(c) >= 0x80;
  }
  const size_t shift = out.has_scheme ? static_cast<size_t>(bare.data() - key.data()) : 0;
  const auto blank = std::find_if(key.begin() + static_cast<ptrdiff_t>(shift), key.end(), is_blank);
  out.blank = blank != key.end();
  if (out.blank) out.blank_at = static_cast<size_t>(blank - key.begin());
  out.quoted = bare.size() > 1 && (bare.front() == '"' || bare.front() == '\'') &&
               bare.back() == bare.front();
  const std::string clean = cleaned_key(key);
  out.begins_with = public_prefix(clean);
  out.placeholder = is_placeholder(clean);
  out.admin_token = clean.starts_with("hw-admin-");
  if (out.admin_token) return out;
  for (const KeyForm& form : kForms) {
    if (clean.starts_with(form.prefix) && clean.size() != form.bytes) {
      out.bytes_expected = form.bytes;
    }
  }
  return out;
}

std::string cleaned_key(std::string_view key) {
  std::string_view rest = trim(key);
  if (begins_with_scheme(rest)) rest = trim(rest.substr(7));
  std::string out;
  for (const char c : rest) {
    const bool drop = is_control(c) || is_blank(c) || static_cast<unsigned char>(c) >= 0x80 ||
                      c == '"' || c == '\'';
    if (!drop) out += c;
  }
  return out;
}

}  // namespace hw::probe
