#include "settings/json_edit.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "json/writer.h"

namespace hw::settings {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r\n";

// How a file is laid out, taken from its first member.
struct Style {
  std::string line_end = "\n";
  std::string unit = "  ";  // one step of indent
  std::string colon = ": ";
  bool lines = true;  // members stand on lines of their own
};

Style style_of(std::string_view text) {
  Style out;
  const size_t open = text.find('{');
  const size_t first = text.find_first_not_of(kBlanks, open + 1);
  if (first == std::string_view::npos || text[first] != '"') return out;
  const std::string_view before = text.substr(open + 1, first - open - 1);
  const size_t newline = before.rfind('\n');
  out.lines = newline != std::string_view::npos;
  if (out.lines && newline > 0 && before[newline - 1] == '\r') out.line_end = "\r\n";
  if (out.lines && newline + 1 < before.size()) out.unit = before.substr(newline + 1);
  size_t end = first + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  const size_t colon = text.find(':', end);
  if (kBlanks.find(text[colon + 1]) == std::string_view::npos) out.colon = ":";
  return out;
}

// The blanks at the beginning of the line on which `offset` stands.
std::string indent_at(std::string_view text, size_t offset) {
  const size_t newline = text.rfind('\n', offset);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = text.find_first_not_of(" \t", begin);
  return std::string(text.substr(begin, std::min(end, offset) - begin));
}

std::string quoted(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

// `raw` inside an object for each of `keys`; `indent` is that of the line it begins on.
std::string nested(std::span<const std::string> keys, std::string_view raw, const Style& style,
                   const std::string& indent) {
  if (keys.empty()) return std::string(raw);
  const std::string inner = indent + style.unit;
  return concat("{", style.lines ? style.line_end + inner : "", quoted(keys.front()), style.colon,
                nested(keys.subspan(1), raw, style, inner),
                style.lines ? style.line_end + indent : "", "}");
}

}  // namespace

JsonEdit::JsonEdit(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    mark_ = kByteOrderMark;
    text.remove_prefix(kByteOrderMark.size());
  }
  text_ = text.find_first_not_of(kBlanks) == std::string_view::npos ? "{}\n" : std::string(text);
  Result<JsonNode> root = parse_json(text_);
  if (root.has_value()) {
    root_ = std::move(*root);
  } else {
    error_ = root.error().message;
  }
}

void JsonEdit::fail_at(size_t offset, std::string_view key, std::string_view what) {
  error_ = concat("line ", line_at(text_, offset), ": \"", key, "\" is not ", what);
}

bool JsonEdit::has(const Path& path) const {
  const JsonNode* node = root_.find_path(path);
  return node != nullptr && node->kind != json::Kind::kNull;
}

void JsonEdit::set(const Path& path, std::string_view raw, Existing existing) {
  if (!error_.empty()) return;
  const Style style = style_of(text_);
  const JsonNode* node = &root_;
  for (size_t i = 0; i < path.size(); ++i) {
    const auto rest = std::span(path).subspan(i + 1);
    const JsonNode* next = node->find(path[i]);
    if (next == nullptr) {
      const std::string indent = indent_at(text_, node->begin) + style.unit;
      insert(*node, concat(quoted(path[i]), style.colon, nested(rest, raw, style, indent)));
      return;
    }
    if (next->kind == json::Kind::kNull) {
      replace(next->begin, next->end, nested(rest, raw, style, indent_at(text_, next->begin)));
      return;
    }
    if (!rest.empty() && next->kind != json::Kind::kObject) {
      fail_at(next->begin, path[i], "an object");
      return;
    }
    node = next;
  }
  if (existing == Existing::kReplace) replace(node->begin, node->end, raw);
}

void JsonEdit::set_text(const Path& path, std::string_view value, Existing existing) {
  const JsonNode* node = root_.find_path(path);
  const bool equal = node != nullptr && node->kind == json::Kind::kString && node->text == value;
  if (!equal) set(path, quoted(value), existing);
}

void JsonEdit::add_text(const Path& path, std::string_view value) {
  if (!has(path)) set(path, "[]");
  if (!error_.empty()) return;
  const JsonNode& node = *root_.find_path(path);
  if (node.kind != json::Kind::kArray) return fail_at(node.begin, path.back(), "a list");
  for (const JsonNode& item : node.items) {
    if (item.kind == json::Kind::kString && item.text == value) return;
  }
  insert(node, quoted(value));
}

void JsonEdit::replace(size_t begin, size_t end, std::string_view by) {
  text_.replace(begin, end - begin, by);
  Result<JsonNode> root = parse_json(text_);
  if (!root.has_value()) {
    error_ = root.error().message;
    return;
  }
  root_ = std::move(*root);
}

// Adds `entry` as the last one of an object or array.
void JsonEdit::insert(const JsonNode& container, std::string entry) {
  const Style style = style_of(text_);
  const size_t open = container.begin, close = container.end - 1;
  const size_t first = text_.find_first_not_of(kBlanks, open + 1);
  if (first == close) {  // it is empty
    const std::string indent = indent_at(text_, open);
    if (style.lines) {
      entry = concat(style.line_end, indent, style.unit, entry, style.line_end, indent);
    }
    return replace(open + 1, close, entry);
  }
  const std::string_view before = std::string_view(text_).substr(open + 1, first - open - 1);
  const size_t newline = before.rfind('\n');
  std::string gap = style.colon == ":" ? "," : ", ";
  if (newline != std::string_view::npos) {
    gap = concat(",", style.line_end, before.substr(newline + 1));
  }
  const size_t end = text_.find_last_not_of(kBlanks, close - 1) + 1;
  replace(end, end, gap + entry);
}

Result<std::string> JsonEdit::finish() const {
  if (!error_.empty()) return fail(ErrorCode::kConfig, error_);
  return mark_ + text_;
}

}  // namespace hw::settings
