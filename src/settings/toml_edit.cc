#include "settings/toml_edit.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "config/option.h"

namespace hw::settings {
namespace {

using Path = TomlEdit::Path;

bool begins_with(const Path& path, const Path& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

// `keys` as they are written in a header or before an equals sign.
std::string dotted(std::span<const std::string> keys) {
  std::string out;
  for (const std::string& key : keys) {
    const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-';
    });
    out += concat(out.empty() ? "" : ".", bare ? key : config::toml_quoted(key));
  }
  return out;
}

std::string line_end_of(std::string_view text) {
  const size_t newline = text.find('\n');
  const bool crlf = newline != std::string_view::npos && newline > 0 && text[newline - 1] == '\r';
  return crlf ? "\r\n" : "\n";
}

// Behind the end of the line on which `offset` stands; npos where the text ends without one.
size_t next_line(std::string_view text, size_t offset) {
  const size_t newline = text.find('\n', offset);
  return newline == std::string_view::npos ? newline : newline + 1;
}

// A text in which a whole line goes behind the line of `offset`.
std::string with_line_behind(std::string_view text, size_t offset, std::string_view line) {
  const size_t at = next_line(text, offset);
  if (at == std::string_view::npos) return concat(text, line_end_of(text), line, line_end_of(text));
  return concat(text.substr(0, at), line, line_end_of(text), text.substr(at));
}

// Behind the last value below a header (-1: above all headers); `otherwise` where there is none.
size_t end_of_section(const TomlLayout& layout, int header, size_t otherwise) {
  for (const TomlPair& pair : layout.pairs) {
    if (pair.header == header) otherwise = std::max(otherwise, pair.value_end);
  }
  return otherwise;
}

// Where the first key of a file without any goes: behind the comment that heads the file, where a
// blank line ends it; else first.
std::string with_first_key(std::string_view text, std::string_view line) {
  const std::string end = line_end_of(text);
  const std::string_view mark = text.substr(0, text.starts_with("\xef\xbb\xbf") ? 3 : 0);
  size_t at = mark.size();
  while (at < text.size() && text[at] == '#') at = std::min(next_line(text, at), text.size());
  const std::string_view behind = text.substr(at);
  const bool heads = at > mark.size() && (behind.empty() || behind[0] == '\n' || behind[0] == '\r');
  if (!heads) at = mark.size();
  const bool open_end = at > 0 && heads && text[at - 1] != '\n';
  std::string gap = text.size() == at ? "" : end;
  if (heads && !behind.empty()) {  // the blank line that is there separates on both sides
    const size_t blank = next_line(text, at);
    return concat(text.substr(0, blank), line, end, end, text.substr(blank));
  }
  return concat(text.substr(0, at), open_end ? end : "", line, end, gap, text.substr(at));
}

// A new header with its first pair, behind the last table that shares the first key, else last.
std::string with_table(std::string_view text, const TomlLayout& layout, const Path& path,
                       std::string_view raw) {
  const std::string end = line_end_of(text);
  const Path table(path.begin(), path.end() - 1);
  const std::string block =
      concat("[", dotted(table), "]", end, dotted(std::span(path).last(1)), " = ", raw);
  size_t behind = std::string_view::npos;
  for (size_t i = 0; i < layout.headers.size(); ++i) {
    if (layout.headers[i].path.front() == path.front()) behind = layout.headers[i].end;
  }
  for (const TomlPair& pair : layout.pairs) {
    if (pair.header < 0) continue;
    const TomlHeader& header = layout.headers[static_cast<size_t>(pair.header)];
    if (header.path.front() == path.front()) behind = std::max(behind, pair.value_end);
  }
  if (behind != std::string_view::npos) {
    return with_line_behind(text, behind, concat(end, block));
  }
  std::string out(text);
  if (out.empty()) return concat(block, end);
  if (!out.ends_with('\n')) out += end;
  return concat(out, end, block, end);
}

// `table` with the value at `path` taken out, and every table that is empty then.
void remove_path(config::Value& table, std::span<const std::string> path) {
  const auto entry =
      std::find_if(table.entries.begin(), table.entries.end(),
                   [&](const config::Entry& one) { return one.key == path.front(); });
  if (entry == table.entries.end()) return;
  if (path.size() > 1) remove_path(entry->value, path.subspan(1));
  if (path.size() == 1 || entry->value.entries.empty()) table.entries.erase(entry);
}

bool equal(const config::Value& a, const config::Value& b) {
  if (a.kind != b.kind || a.integer != b.integer || a.boolean != b.boolean || a.text != b.text ||
      a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) {
    return false;
  }
  if (a.kind == config::ValueKind::kNumber && !(a.number == b.number)) {
    return a.number != a.number && b.number != b.number;  // nan is written as nan
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) return false;
  }
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const config::Entry& entry) {
    const config::Value* other = b.find(entry.key);
    return other != nullptr && equal(entry.value, *other);
  });
}

}  // namespace

const config::Value* find_path(const config::Value& table, const std::vector<std::string>& path) {
  const config::Value* value = &table;
  for (const std::string& key : path) {
    value = value->find(key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

TomlEdit::TomlEdit(std::string_view text) : text_(text) {
  if (text.size() > kSettingsBytesMax) {
    error_ = concat("it is larger than ", kSettingsBytesMax, " bytes");
    return;
  }
  auto tree = config::parse_document(text_);
  if (tree.has_value()) {
    tree_ = std::move(*tree);
  } else {
    error_ = concat("line ", tree.error().line, ": ", tree.error().what);
  }
}

void TomlEdit::set(const Path& path, std::string_view raw, Existing existing) {
  if (!error_.empty()) return;
  const bool there = find_path(tree_, path) != nullptr;
  if (there && existing == Existing::kKeep) return;
  const config::Value before = tree_;
  const Result<TomlLayout> layout = layout_of_toml(text_);
  if (!layout.has_value()) {
    error_ = layout.error().message;
    return;
  }
  const auto pair = std::find_if(layout->pairs.begin(), layout->pairs.end(),
                                 [&](const TomlPair& one) { return one.path == path; });
  if (pair != layout->pairs.end()) {
    text_.replace(pair->value_begin, pair->value_end - pair->value_begin, raw);
  } else if (there) {
    error_ = concat("\"", dotted(path), "\" is a table");
  } else {
    insert_new(path, raw);
  }
  if (error_.empty()) check_against(before, path);
}

// Puts a pair where its table is written.
void TomlEdit::insert_new(const Path& path, std::string_view raw) {
  const TomlLayout layout = *layout_of_toml(text_);
  const Path parent(path.begin(), path.end() - 1);
  const TomlPair* holder = nullptr;   // the innermost value on the way: an inline table
  const TomlPair* sibling = nullptr;  // the last one that writes the same table with dots
  for (const TomlPair& pair : layout.pairs) {
    if (begins_with(parent, pair.path)) holder = &pair;
    if (!pair.in_line && !parent.empty() && begins_with(pair.path, parent)) sibling = &pair;
  }
  if (holder != nullptr) return insert_in_line(*holder, path, raw);
  for (size_t i = layout.headers.size(); i-- > 0;) {
    if (layout.headers[i].path != parent) continue;
    const size_t behind = end_of_section(layout, static_cast<int>(i), layout.headers[i].end);
    text_ = with_line_behind(text_, behind, concat(dotted(std::span(path).last(1)), " = ", raw));
    return;
  }
  if (parent.empty()) {
    const size_t behind = end_of_section(layout, -1, 0);
    const std::string line = concat(dotted(path), " = ", raw);
    text_ = behind > 0 ? with_line_behind(text_, behind, line) : with_first_key(text_, line);
    return;
  }
  const size_t above = sibling == nullptr || sibling->header < 0
                           ? 0
                           : layout.headers[static_cast<size_t>(sibling->header)].path.size();
  if (sibling == nullptr || above >= path.size()) {
    text_ = with_table(text_, layout, path, raw);
    return;
  }
  const std::string key = dotted(std::span(path).subspan(above));
  text_ = with_line_behind(text_, sibling->value_end, concat(key, " = ", raw));
}

// Adds a member to an inline table.
void TomlEdit::insert_in_line(const TomlPair& holder, const Path& path, std::string_view raw) {
  if (text_[holder.value_begin] != '{') {
    error_ = concat("line ", line_at(text_, holder.value_begin), ": \"", dotted(holder.path),
                    "\" is not a table");
    return;
  }
  const std::string pair = concat(dotted(std::span(path).subspan(holder.path.size())), " = ", raw);
  const size_t close = holder.value_end - 1;
  const size_t last = text_.find_last_not_of(" \t", close - 1);
  if (last == holder.value_begin) {
    text_.replace(last + 1, close - last - 1, concat(" ", pair, " "));
  } else {
    text_.insert(last + 1, concat(", ", pair));
  }
}

// Parses what became of the text: the keys that were not set must be what they were.
void TomlEdit::check_against(const config::Value& before, const Path& path) {
  auto tree = config::parse_document(text_);
  if (!tree.has_value()) {
    error_ = concat("\"", dotted(path), "\" cannot be set without breaking the file (",
                    tree.error().what, ")");
    return;
  }
  tree_ = std::move(*tree);
  config::Value old_rest = before, new_rest = tree_;
  remove_path(old_rest, path);
  remove_path(new_rest, path);
  if (find_path(tree_, path) == nullptr || !equal(old_rest, new_rest)) {
    error_ = concat("\"", dotted(path), "\" cannot be set without touching anything else");
  }
}

void TomlEdit::set_text(const Path& path, std::string_view value, Existing existing) {
  const config::Value* there = find_path(tree_, path);
  if (there != nullptr && there->kind == config::ValueKind::kText && there->text == value) return;
  set(path, config::toml_quoted(value), existing);
}

Result<std::string> TomlEdit::finish() const {
  if (!error_.empty()) return fail(ErrorCode::kConfig, error_);
  return text_;
}

}  // namespace hw::settings
