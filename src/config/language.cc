#include "config/language.h"

namespace hw::config {

Language language_of_locale(std::string_view locale) {
  return locale.starts_with("zh") ? Language::kChinese : Language::kEnglish;
}

bool parse_language(std::string_view name, Language& out) {
  if (name != "en" && name != "zh") return false;
  out = name == "zh" ? Language::kChinese : Language::kEnglish;
  return true;
}

std::string fill(std::string_view text, std::span<const std::string> arguments) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool placeholder = text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}' &&
                             text[i + 1] >= '0' && text[i + 1] <= '9';
    const size_t index = placeholder ? static_cast<size_t>(text[i + 1] - '0') : 0;
    if (!placeholder || index >= arguments.size()) {
      out += text[i];
      continue;
    }
    out += arguments[index];
    i += 2;
  }
  return out;
}

}  // namespace hw::config
