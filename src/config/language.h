// The two languages in which Headway speaks to people, and texts that exist in both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hw::config {

// What people are spoken to in.
enum class Language : uint8_t { kEnglish, kChinese };

// One text in both languages. `{0}`, `{1}`, ... stand for arguments (fill()).
struct Words {
  std::string_view en, zh;
  // The one for `language`.
  std::string_view in(Language language) const { return language == Language::kChinese ? zh : en; }
};

// The language of a locale's name as LC_ALL and LANG hold it: "zh_CN.UTF-8" is Chinese, all else
// English.
Language language_of_locale(std::string_view locale);
// "en" or "zh"; false for anything else.
bool parse_language(std::string_view name, Language& out);

// `text` with `{N}` replaced by the N-th argument; a placeholder without an argument stays.
std::string fill(std::string_view text, std::span<const std::string> arguments);

}  // namespace hw::config
