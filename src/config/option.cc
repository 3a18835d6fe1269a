#include "config/option.h"

#include <cmath>

#include "base/text.h"

namespace hw::config {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += concat(out.empty() ? "" : ", ", toml_quoted(name));
  return out;
}

// Cut at a character's boundary, so that what is shown stays UTF-8.
std::string shortened(std::string_view text) {
  constexpr size_t kShownMax = 60;
  if (text.size() <= kShownMax) return std::string(text);
  size_t end = kShownMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return concat(text.substr(0, end), "...");
}

}  // namespace

Option row(std::string name, Field field, std::string unit, Applies applies, Words meaning,
           std::string_view reason, std::string_view example, Presence presence) {
  return {std::move(name), std::move(field), std::move(unit), applies,
          meaning,         reason,           example,         presence};
}

const Option* Section::find(std::string_view option) const {
  for (const Option& one : options) {
    if (one.name == option) return &one;
  }
  return nullptr;
}

const Section* OptionTable::find(std::string_view section) const {
  for (const Section& one : sections) {
    if (one.name == section) return &one;
  }
  return nullptr;
}

std::string expectation(const Field& field, Language language) {
  const auto between = [&](Words words) {
    const std::string bounds[] = {toml_number(field.least), toml_number(field.most)};
    return fill(words.in(language), bounds);
  };
  switch (field.type) {
    case OptionType::kInteger:
      return between({"an integer from {0} to {1}", "{0} 到 {1} 的整数"});
    case OptionType::kNumber:
      return between({"a number from {0} to {1}", "{0} 到 {1} 的数"});
    case OptionType::kBoolean:
      return std::string(Words{"true or false", " true 或 false"}.in(language));
    case OptionType::kText:
      return std::string(Words{"a text in quotes", "带引号的文本"}.in(language));
    case OptionType::kChoice:
      return concat(Words{"one of: ", "其中之一："}.in(language), listed(field.choices));
    case OptionType::kSecret:
      return std::string(Words{"a secret in quotes, \"env:NAME\" or \"file:PATH\"",
                               "带引号的密钥、\"env:NAME\" 或 \"file:PATH\""}
                             .in(language));
    case OptionType::kTextList:
      return std::string(
          Words{"a list of texts, [\"a\", \"b\"]", "文本列表 [\"a\", \"b\"]"}.in(language));
    case OptionType::kTextMap:
      return std::string(
          Words{"a table of texts, { \"a\" = \"b\" }", "文本表 { \"a\" = \"b\" }"}.in(language));
  }
  return {};
}

std::string found(const Value& value, Language language) {
  switch (value.kind) {
    case ValueKind::kInteger:
      return std::to_string(value.integer);
    case ValueKind::kNumber:
      return toml_number(value.number);
    case ValueKind::kBoolean:
      return value.boolean ? "true" : "false";
    case ValueKind::kText:
      return concat(Words{"the text ", "文本 "}.in(language), toml_quoted(shortened(value.text)));
    case ValueKind::kList:
      return std::string(Words{"a list", "列表"}.in(language));
    case ValueKind::kTable:
      return std::string(Words{"a table", "表"}.in(language));
    case ValueKind::kOther:
      return std::string(Words{"a date or time", "日期或时间"}.in(language));
  }
  return {};
}

std::string toml_quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string toml_number(double number) {
  if (number == std::floor(number) && std::fabs(number) < 1e18) {
    return std::to_string(static_cast<int64_t>(number));
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  return std::string(digits, end.ptr);
}

std::vector<Option> joined(std::vector<std::vector<Option>> parts) {
  std::vector<Option> out;
  for (std::vector<Option>& part : parts) {
    for (Option& option : part) out.push_back(std::move(option));
  }
  return out;
}

std::string show_list(const std::vector<std::string>& list) {
  return concat("[", listed(list), "]");
}

std::string show_map(const TextMap& map) {
  std::string out = "{";
  for (const auto& [from, to] : map) {
    out += concat(out.size() == 1 ? " " : ", ", toml_quoted(from), " = ", toml_quoted(to));
  }
  return out + (map.empty() ? "}" : " }");
}

}  // namespace hw::config
