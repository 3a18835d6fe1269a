#include "settings/shell.h"

#include <algorithm>

#include "base/text.h"

namespace hw::settings {
namespace {

// Where a line's value stands, if the line sets `name`.
struct ValueSpan {
  size_t begin = std::string_view::npos, end = 0;
};

ValueSpan find_value(std::string_view text, size_t begin, size_t end, std::string_view name) {
  const std::string_view line = text.substr(begin, end - begin);
  size_t at = std::min(line.find_first_not_of(" \t"), line.size());
  if (line.substr(at).starts_with("export ")) at = line.find_first_not_of(" \t", at + 7);
  if (at == std::string_view::npos || !line.substr(at).starts_with(name)) return {};
  at = line.find_first_not_of(" \t", at + name.size());
  if (at == std::string_view::npos || line[at] != '=') return {};
  at = std::min(line.find_first_not_of(" \t", at + 1), line.size());
  size_t last = line.size();
  while (last > at && (line[last - 1] == ' ' || line[last - 1] == '\t' || line[last - 1] == '\r')) {
    --last;
  }
  const char quote = at < last ? line[at] : '\0';
  if (quote == '"' || quote == '\'') {
    // What stands behind a closing quotation mark is a comment, or the marks enclose nothing.
    const size_t close = line.find(quote, at + 1);
    const size_t behind = close == std::string_view::npos ? close : close + 1;
    const bool encloses =
        behind <= last && (behind == last || line.substr(behind).starts_with(" #"));
    if (encloses) return {begin + at, begin + behind};
  }
  const size_t comment = line.find(" #", at);
  if (comment < last) last = comment;
  return {begin + at, begin + last};
}

// The last line that sets `name`.
ValueSpan find_last_value(std::string_view text, std::string_view name) {
  ValueSpan found;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const ValueSpan one = find_value(text, begin, end, name);
    if (one.begin != std::string_view::npos) found = one;
    begin = end + 1;
  }
  return found;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:,@%+=").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string export_lines(const std::vector<Variable>& variables) {
  std::string out;
  for (const Variable& one : variables) {
    out += concat("export ", one.name, "=", shell_quoted(one.value), "\n");
  }
  return out;
}

bool dotenv_value(std::string_view text, std::string_view name, std::string& value, int& line) {
  const ValueSpan span = find_last_value(text, name);
  if (span.begin == std::string_view::npos) return false;
  std::string_view found = text.substr(span.begin, span.end - span.begin);
  if (found.size() >= 2 && (found.front() == '"' || found.front() == '\'') &&
      found.back() == found.front()) {
    found = found.substr(1, found.size() - 2);
  }
  value = found;
  const std::string_view before = text.substr(0, span.begin);
  line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  return true;
}

std::string with_dotenv(std::string_view text, std::string_view name, std::string_view value) {
  std::string before;
  int line = 0;
  if (dotenv_value(text, name, before, line) && before == value) return std::string(text);
  const ValueSpan span = find_last_value(text, name);
  const std::string quoted = shell_quoted(value);
  if (span.begin != std::string_view::npos) {
    return concat(text.substr(0, span.begin), quoted, text.substr(span.end));
  }
  const std::string_view gap = text.empty() || text.ends_with('\n') ? "" : "\n";
  return concat(text, gap, name, "=", quoted, "\n");
}

}  // namespace hw::settings
